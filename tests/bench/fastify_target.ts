// The do-it-yourself choice as a process: see fastify_server.mjs. Its packages are installed into a temporary folder.
import type { BenchTarget } from "./bench_target.ts";
import { serverProcess } from "./server_process.ts";

const PACKAGES = ["fastify@5.12.8", "better-sqlite3@13.2.0"];
const JSON_TYPE = { "content-type": "application/json" };

/** Throws where Node.js, npm or the packages cannot be had. */
export async function fastifyTarget(): Promise<BenchTarget> {
  const folder = await Deno.makeTempDir({ prefix: "bench_fastify_" });
  const remove = () => Deno.remove(folder, { recursive: true });
  try {
    await Deno.writeTextFile(`${folder}/package.json`, "{}");
    await outputOf(folder, "npm", ["install", "--no-audit", "--no-fund", "--save-exact", ...PACKAGES]);
    const node = (await outputOf(folder, "node", ["--version"])).trim();
    const script = new URL("./fastify_server.mjs", import.meta.url).pathname;
    const server = await serverProcess({
      command: "node",
      args: (port) => [script, String(port), `${folder}/diy.db`],
      cwd: folder,
      healthPath: "/healthz",
    });
    return {
      name: "fastify",
      note: `${
        PACKAGES.join(" and ")
      } in one process of Node.js ${node}, synchronous=FULL, no tenants, no log`,
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

async function outputOf(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd }).output();
  if (!success) throw new Error(`${command} ${args[0]}: ${new TextDecoder().decode(stderr).slice(-500)}`);
  return new TextDecoder().decode(stdout);
}
