// `deno task copy` between two services, killed on its way: the source stays frozen and whole, nothing half-made is seen at the
// target, and the same command, called again, ends the move.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { rounds } from "../testing/rounds.ts";
import { callService, type ServiceWorld, serviceWorld } from "../testing/service_world.ts";
import { SHARED_SQLD, startSqld } from "../testing/sqld.ts";

const ROWS = 5000;
const FILL = `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${ROWS}) ` +
  "INSERT INTO t SELECT i, hex(randomblob(200)) FROM c";
const root = new URL("../../", import.meta.url);
const task: { tasks: { copy: string } } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));

/** Runs the command; `killMs` after it has frozen the source it is killed. What it has said, and how it ended. */
async function move(
  from: ServiceWorld,
  to: ServiceWorld,
  killMs: number | null,
): Promise<{ said: string; code: number }> {
  const address = ({ service }: ServiceWorld) => `${service.url}/v1/db/acme/main`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [...task.tasks.copy.split(" ").slice(1), "--from", address(from), "--to", address(to)],
    cwd: root.pathname,
    env: { CUBBY_FROM_TOKEN: from.token, CUBBY_TO_TOKEN: to.token },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let said = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    if (killMs !== null && timer === undefined && said.includes("takes no writes")) {
      timer = setTimeout(() => child.kill("SIGKILL"), killMs);
    }
  }
  clearTimeout(timer);
  return { said, code: (await child.status).code };
}

async function movedInSpite(settings: Readonly<Record<string, string>>, killsMs: readonly number[]) {
  await using from = await serviceWorld();
  await using to = await serviceWorld(settings);
  await callService(from, "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
  assertEquals((await callService(from, FILL)).status, 200);
  for (const killMs of killsMs) {
    const { said } = await move(from, to, killMs);
    assertMatch(said, /takes no writes/);
    assertEquals((await callService(from, "DELETE FROM t")).body.code, "rule_denied");
    // All of it, or nothing.
    const there = await callService(to, "SELECT count(*) FROM t");
    assert(there.status === 400 || there.body.data?.rows[0]?.[0] === ROWS, JSON.stringify(there.body));
  }
  const { said, code } = await move(from, to, null);
  assertEquals(code, 0, said);
  assertMatch(said, /, of an earlier run\n(?:Moved|Both hold the same)/);
  const digest = "SELECT count(*), sum(id), max(v), min(v) FROM t";
  const [before, after] = [await callService(from, digest), await callService(to, digest)];
  assertEquals(after.body.data?.rows, before.body.data?.rows);
}

/** Behind the rule; and, in long runs, at moments of the export, the import and the comparison. */
const killsMs = Array.from({ length: rounds(1, 10) }, (_, at) => at === 0 ? 0 : 4900 + at * 60);

Deno.test("a move between two services goes on where it was killed", async () => {
  await movedInSpite({}, killsMs);
});

Deno.test("a move into sqld goes on where it was killed", async () => {
  const sqld = await startSqld({ args: SHARED_SQLD });
  if (sqld === null) return;
  try {
    await movedInSpite({ TENANTS_URL: `sqld+${sqld.url}?admin=${sqld.adminUrl}` }, killsMs);
  } finally {
    await sqld.stop();
  }
});
