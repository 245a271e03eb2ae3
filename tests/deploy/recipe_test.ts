// The documentation's recipe for several instances, as it stands there: its commands are run, but for the one that starts
// containers, in whose place the same programs run by the file's own commands and settings.
import { assert, assertEquals } from "@std/assert";
import { startKvConnect } from "../testing/kv_connect.ts";
import { print } from "../testing/print.ts";
import { inCi, startSqld } from "../testing/sqld.ts";
import { filled, instances, service, sqldArguments } from "./compose_file.ts";
import { blocksOf, docFile } from "../docs/doc_files.ts";
import { emptyDenoDir, type Instance, startInstance } from "./rehearsal.ts";

/** The blocks of commands of the section, in order, and the single commands of its numbered steps. */
async function recipe(): Promise<{ readonly blocks: readonly string[]; readonly up: string | undefined }> {
  const page = await docFile("routes/docs/self-hosting.md");
  const [section = ""] = /^## Several instances\n[^]*?(?=^## |$(?![^]))/m.exec(page.text) ?? [];
  const blocks = blocksOf({ ...page, text: section }).map(({ text }) => text);
  return { blocks, up: /^\d+\. `(docker compose [^`]+)`/m.exec(section)?.[1] };
}

async function has(...programs: string[]): Promise<boolean> {
  for (const program of programs) {
    const { success } = await new Deno.Command("sh", { args: ["-c", `command -v ${program}`] }).output();
    if (success) continue;
    if (inCi()) throw new Error(`${program} is needed`);
    print(`\nleft out: ${program} is not here\n`);
    return false;
  }
  return true;
}

/** What the commands write to standard output. */
async function run(text: string, cwd: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euo", "pipefail", "-c", text],
    ...{ cwd, env },
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** Settings by the names that the compose file asks for. */
async function exported(text: string, cwd: string): Promise<Record<string, string>> {
  const asked = [...instances, ["sqld", service("sqld")] as const]
    .flatMap(([, { environment }]) => Object.values(environment))
    .flatMap((value) => [...value.matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name));
  const values = await run(
    `${text}\nfor name in ${[...new Set(asked)].join(" ")}; do printf '%s\\0' "$name=\${!name-}"; done`,
    cwd,
  );
  return Object.fromEntries(
    values.split("\0").filter((pair) => /=./s.test(pair)).map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

Deno.test("the recipe for several instances ends with a namespace, a database and a token that work", async () => {
  if (!await has("openssl", "curl", "bash", "sed")) return;
  const { blocks, up } = await recipe();
  const [makeKeys = "", choose = "", first = ""] = blocks;
  assertEquals([blocks.length, up], [3, "docker compose -f .deploy/compose.yaml up -d --wait"]);
  const folder = await Deno.makeTempDir({ prefix: "cubby_recipe_" });
  const running: Instance[] = [];
  try {
    await run(makeKeys, folder);
    const given = await exported(choose, folder);
    const sqld = await startSqld({
      args: sqldArguments(`${folder}/.deploy/keys/jwt.pub`),
      env: filled(service("sqld").environment, given),
    });
    if (sqld === null) return;
    try {
      await using kv = startKvConnect(given["DENO_KV_ACCESS_TOKEN"] ?? "");
      const denoDir = await emptyDenoDir(folder);
      for (const [, { command, environment }] of instances) {
        running.push(
          await startInstance({
            ...filled(environment, given),
            KV_URL: kv.url,
            TENANTS_URL: `sqld+${sqld.url}?admin=${sqld.adminUrl}`,
            DENO_DIR: denoDir,
          }, command),
        );
      }
      const here = instances.reduce(
        (text, _, at) => text.replaceAll(`http://127.0.0.1:${8001 + at}`, running[at]?.url ?? ""),
        first,
      );
      assert(!/127\.0\.0\.1:800/.test(here), "every address of the recipe is one of an instance");
      const lines = (await run(here, folder, given)).trim().replaceAll("}{", "}\n{").split("\n");
      const answers = lines.map((line): { success: boolean; data?: unknown } => JSON.parse(line));
      assertEquals(answers.map(({ success }) => success), [true, true, true], lines.join("\n"));
      assert(JSON.stringify(answers[2]?.data).includes('"rows":[[1]]'), lines[2]);
    } finally {
      await Promise.all(running.map((instance) => instance.kill()));
      await sqld.stop();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
