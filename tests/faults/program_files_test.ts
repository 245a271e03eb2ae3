// An update that replaces the program under the running service: children of the new version serve nothing, and the service
// says what helps.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { killChildren } from "../testing/engine_children.ts";
import { type RunningService, startService } from "../testing/start_service.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** A file of the program that a child loads. */
const LOADED = "lib/engine/guard.ts";
/** Long enough to be slow work, for which another child is started. */
const SLOW =
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 2000000) SELECT count(*) FROM c";

async function copyProgram(to: string): Promise<void> {
  for (const name of ["deno.json", "deno.lock", "main.ts"]) await Deno.copyFile(ROOT + name, `${to}/${name}`);
  for (const folder of ["lib", "routes"]) {
    const { success } = await new Deno.Command("cp", { args: ["-R", ROOT + folder, `${to}/${folder}`] })
      .output();
    assert(success, folder);
  }
}

/** Removes the program, and what Deno has cached of a program at that path. */
async function removeProgram(program: string): Promise<void> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" })
    .output();
  const { typescriptCache }: { typescriptCache: string } = JSON.parse(new TextDecoder().decode(stdout));
  await Deno.remove(`${typescriptCache}/file${await Deno.realPath(program)}`, { recursive: true }).catch(
    () => {},
  );
  await Deno.remove(program, { recursive: true });
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly error?: string;
    readonly code?: string;
    readonly data?: {
      readonly rows?: unknown;
      readonly status?: string;
      readonly degraded?: readonly { readonly part: string; readonly reason: string }[];
    };
    readonly notReady?: readonly string[];
  };
}

async function readiness(service: RunningService): Promise<Answer> {
  const response = await fetch(`${service.url}/readyz`);
  return { status: response.status, body: await response.json() };
}

/** On a machine without time for it the control plane may be too late, which has nothing to do with the engine. */
async function query(service: RunningService, token: string, sql: string): Promise<Answer> {
  return await until(() => queryOnce(service, token, sql), ({ body }) => body.code !== "meter_unreachable");
}

async function queryOnce(service: RunningService, token: string, sql: string): Promise<Answer> {
  const response = await fetch(`${service.url}/v1/db/demo/demo/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ sql }),
  });
  return { status: response.status, body: await response.json() };
}

/** Asks until the answer is as wanted, however long a busy machine takes for it. */
async function until<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  for (let attempt = 0;; attempt++) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    assert(attempt < 2000, JSON.stringify(answer));
    await pause(50);
  }
}

const isDegraded = ({ body }: Answer) =>
  body.data?.degraded?.some(({ part, reason }) => part === "tenants" && reason === "restart_needed") === true;

Deno.test("children of another version serve nothing: the service says once to restart it, and goes on with the same files", async () => {
  const [program, folder] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  try {
    await copyProgram(program);
    const settings = { TENANTS_URL: "file:", QUERY_TIMEOUT_MS: "60000" };
    await using service = await startService({ folder, program, settings });
    const token = /cub_live_\w+/.exec(service.output())?.[0] ?? "";
    assertEquals((await query(service, token, "SELECT 1")).body.data?.rows, [[1]]);
    const text = await Deno.readTextFile(`${program}/${LOADED}`);
    await Deno.writeTextFile(`${program}/${LOADED}`, `${text}// another version\n`);

    // The child of before serves on, also the quick statements beside and after slow work.
    assertEquals((await query(service, token, SLOW)).body.data?.rows, [[2_000_000]]);
    await until(() => readiness(service), isDegraded);
    assertEquals(
      (await query(service, token, "INSERT INTO products (name, price_cents) VALUES ('Eraser', 90)")).status,
      200,
    );
    assertEquals((await query(service, token, "SELECT 2")).body.data?.rows, [[2]]);

    // Without it nothing runs, and the answer says what helps.
    await killChildren(folder);
    const refused = await query(service, token, "SELECT 3");
    assertEquals([refused.status, refused.body.code], [503, "store_unavailable"]);
    assertMatch(refused.body.error ?? "", /^Restart the service; /);
    await until(() => readiness(service), ({ body }) => body.notReady?.includes("tenants") === true);
    assertEquals(service.errors().split("\n").filter((line) => line.includes('"restart_needed"')).length, 1);

    // With the same files again children serve.
    await Deno.writeTextFile(`${program}/${LOADED}`, text);
    const again = await until(() => query(service, token, "SELECT 4"), ({ status }) => status === 200);
    assertEquals(again.body.data?.rows, [[4]]);
    const ready = await until(() => readiness(service), ({ status }) => status === 200);
    assertEquals(isDegraded(ready), false);
  } finally {
    await removeProgram(program);
    await Deno.remove(folder, { recursive: true });
  }
});
