// The do-it-yourself choice as a process: see fastify_server.mjs. Its packages are installed into a temporary folder.
import type { BenchTarget } from "./bench_target.ts";
import { outputOf } from "./output_of.ts";
import { serverProcess } from "./server_process.ts";

const PACKAGES = ["fastify@5.12.8", "better-sqlite3@13.2.0"];
/** Node.js of a version that these packages need, as a package of its own; on other systems that of the machine runs. */
const NODE_PACKAGE = Deno.build.os === "linux"
  ? `node-linux-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`
  : null;
const NODE_VERSION = "22.23.3";
const JSON_TYPE = { "content-type": "application/json" };

/** Throws where npm or the packages cannot be had. */
export async function fastifyTarget(): Promise<BenchTarget> {
  const folder = await Deno.makeTempDir({ prefix: "bench_fastify_" });
  const remove = () => Deno.remove(folder, { recursive: true });
  try {
    await Deno.writeTextFile(`${folder}/package.json`, "{}");
    const packages = [...PACKAGES, ...NODE_PACKAGE === null ? [] : [`${NODE_PACKAGE}@${NODE_VERSION}`]];
    await outputOf(folder, "npm", ["install", "--no-audit", "--no-fund", "--save-exact", ...packages]);
    const command = NODE_PACKAGE === null ? "node" : `${folder}/node_modules/${NODE_PACKAGE}/bin/node`;
    const version = (await outputOf(folder, command, ["--version"])).trim();
    const script = new URL("./fastify_server.mjs", import.meta.url).pathname;
    const server = await serverProcess({
      command,
      args: (port) => [script, String(port), `${folder}/diy.db`],
      cwd: folder,
      healthPath: "/healthz",
    });
    return {
      name: "fastify",
      note: `${
        PACKAGES.join(" and ")
      } in one process of Node.js ${version}, synchronous=FULL, no tenants, no log`,
      url: server.url,
      pid: server.pid,
      query: (statement) => ({ path: "/query", headers: JSON_TYPE, body: JSON.stringify(statement) }),
      transaction: (statements) => ({
        path: "/batch",
        headers: JSON_TYPE,
        body: JSON.stringify({ statements }),
      }),
      stop: async () => {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
