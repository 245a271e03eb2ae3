// Kills between the claim of a token and its answer: what was proposed or approved runs at most once, what was
// answered stays, and a plan's step is answered as it was.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { killChildren } from "../testing/engine_children.ts";
import { print } from "../testing/print.ts";
import { rounds } from "../testing/rounds.ts";
import { callService, manage, newToken } from "../testing/service_world.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { mergeBranch, withBranch } from "../branches/merge_world.ts";
import { heldBy, withWrites } from "../writes/write_world.ts";

const ROUNDS = rounds(8, 80);

Deno.test("a kill of the engine child between claim and answer runs a proposed write once", async () => {
  await withWrites(async ({ app, apply, propose, setup, shop }) => {
    await setup("CREATE TABLE t (round INTEGER)");
    let [killed, ran] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const { executionToken } = await propose(`INSERT INTO t VALUES (${round})`);
      const answers = [apply(executionToken), apply(executionToken)];
      await pause(round % 8);
      killed += await killChildren(app.deps.config.dataDir);
      const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
      const [[written]] = await readPast(shop, `SELECT count(*) FROM t WHERE round = ${round}`) as [[number]];
      assert(written <= 1, `round ${round} was written ${written} times`);
      if (!statuses.includes(200)) continue;
      assertEquals([statuses, written], [[200, 404], 1]);
      ran++;
    }
    assert(killed > 0 && ran > 0, `${killed} children killed, ${ran} writes answered`);
  });
});

Deno.test("a dry run during which the child is killed neither writes nor passes for a commit", async () => {
  await withWrites(async ({ app, post, rule, setup, shop }) => {
    await setup("CREATE TABLE t (v)");
    await rule({ tableGlob: "t", effect: "require_approval", minRows: 100_000 });
    let [killed, ran] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const sql =
        `INSERT INTO t WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 20000) SELECT ${round} FROM c`;
      const writing = shop.query(sql);
      const proposing = post("propose", { sql });
      await pause(round % 8 * 3);
      killed += await killChildren(app.deps.config.dataDir);
      const [written] = await Promise.all([writing, proposing]);
      const [[count]] = await readPast(shop, `SELECT count(*) FROM t WHERE v = ${round}`) as [[number]];
      assertEquals(count, written.status === 200 ? 20_000 : 0, `${round}: ${written.text}`);
      if (written.status === 200) ran++;
    }
    assert(killed > 0 && ran > 0, `${killed} children killed, ${ran} writes answered`);
  });
});

Deno.test("a kill of the service between claim and answer writes at most once, with a plan's key exactly what it says", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_writes_" });
  const settings = { DEMO: "1" };
  let service: RunningService | null = null;
  let answered = 0;
  let lost = 0;
  try {
    service = await startService({ folder, settings });
    const token = /cub_live_\w+/.exec(service.output())?.[0] ?? "";
    assert(token !== "", service.output());
    const post = async (operation: string, body: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(`${service?.url}/v1/db/demo/demo/${operation}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify(body),
      });
      return {
        status: response.status,
        replayed: response.headers.get("plan-replayed"),
        body: await response.json(),
      };
    };
    assertEquals((await post("query", { sql: "CREATE TABLE kills (round INTEGER)" })).status, 200);
    const looks: (() => Promise<void>)[] = [];
    for (let round = 0; round < rounds(3, 12); round++) {
      const proposed = await post("propose", { sql: "INSERT INTO kills VALUES (?)", params: [round] });
      const { executionToken } = proposed.body.data;
      const plan = { "plan-key": `kill-${round}`, "plan-step": "apply" };
      const first = post("apply", { executionToken }, plan).catch(() => null);
      await pause(1 + round % 3 * 2);
      await service.kill();
      const heard = await first;
      service = await startService({ folder, settings });
      looks.push(async () => {
        const again = await repeat(() => post("apply", { executionToken }, plan));
        const sql = "SELECT count(*) FROM kills WHERE round = ?";
        const count = await post("query", { sql, params: [round] });
        const [[written]] = count.body.data.rows;
        assert(written <= 1);
        if (heard?.status === 200) assertEquals([again.status, again.replayed], [200, "true"]);
        assertEquals(again.status, written === 1 ? 200 : 404, JSON.stringify(again.body));
        answered += heard?.status === 200 ? 1 : 0;
        lost += written === 0 ? 1 : 0;
      });
    }
    // Each waits until its first run's lease is over: all of them at once.
    await Promise.all(looks.map((look) => look()));
    print(`${answered} answered before the kill, ${lost} tokens lost with their claim and nothing written`);
  } finally {
    await service?.kill();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a kill of the service while an approval is redeemed uses its token up, and the query log tells whether it ran", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_writes_" });
  const operatorKey = `cub_op_${crypto.randomUUID()}`;
  const start = () => startService({ folder, settings: { DEMO: "0", OPERATOR_KEY: operatorKey } });
  let service = await start();
  let [usedUp, unused] = [0, 0];
  try {
    await manage({ service, operatorKey }, "", { slug: "acme" });
    await manage({ service, operatorKey }, "/acme/databases", { slug: "main" });
    const token = await newToken({ service, operatorKey }, "admin");
    const rows = async (sql: string) => (await callService({ service, token }, sql)).body.data?.rows ?? [];
    await rows("CREATE TABLE kills (round INTEGER)");
    await manage({ service, operatorKey }, "/acme/databases/main/rules", {
      ...{ tableGlob: "kills", effect: "require_approval" },
    });
    for (let round = 0; round < rounds(4, 24); round++) {
      const held = await post(service, token, "query", { sql: `INSERT INTO kills VALUES (${round})` });
      const id = String(held.body["approvalUrl"]).split("/").pop();
      await manage({ service, operatorKey }, `/acme/approvals/${id}/approve`, {});
      const redeem = () =>
        post(service, token, "redeem_approval", { approvalToken: held.body["approvalToken"] });
      const first = redeem().catch(() => null);
      await pause(1 + round % 4 * 2);
      await service.kill();
      const heard = await first;
      service = await start();
      const before = (await rows(`SELECT round FROM kills WHERE round = ${round}`)).length;
      const again = await repeat(redeem);
      // A token that the kill came too early for is as good as before.
      const isUnused = again.status === 200;
      if (!isUnused) assertEquals([again.status, again.body["code"]], [404, "approval_not_found"]);
      if (heard?.status === 200) assertEquals([before, isUnused], [1, false]);
      const written = (await rows(`SELECT round FROM kills WHERE round = ${round}`)).length;
      assertEquals(written, before + Number(isUnused));
      const ran = "operation = 'redeem_approval' AND status = 'ok'";
      const [told] = await rows(
        `SELECT count(*), (SELECT count(*) FROM kills) FROM _service_meta_query_log WHERE ${ran}`,
      );
      assertEquals([written <= 1, told?.[0]], [true, told?.[1]]);
      if (isUnused) unused++;
      else usedUp++;
    }
    print(`${usedUp} tokens used up by the kill or before it, ${unused} good still`);
  } finally {
    await service.kill();
    await Deno.remove(folder, { recursive: true });
  }
});

/** A call of a database's door, whatever it answers. */
async function post(service: RunningService, token: string, operation: string, body: unknown) {
  const response = await fetch(`${service.url}/v1/db/acme/main/${operation}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const answer: Record<string, unknown> = await response.json();
  return { status: response.status, body: answer };
}

Deno.test("a kill of the child while an approval is redeemed runs it once", async () => {
  await withWrites(async ({ app, decide, redeem, rule, setup, shop }) => {
    await setup("CREATE TABLE t (round INTEGER)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    let [killed, ran] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const held = heldBy(await shop.query("INSERT INTO t VALUES (?)", [round]));
      await decide(held.id, "approve");
      const answers = [redeem(held.approvalToken), redeem(held.approvalToken)];
      await pause(round % 8);
      killed += await killChildren(app.deps.config.dataDir);
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      const [[written]] = await readPast(shop, `SELECT count(*) FROM t WHERE round = ${round}`) as [[number]];
      assert(written <= 1, `round ${round} was written ${written} times`);
      if (!statuses.includes(200)) continue;
      assertEquals(written, 1);
      ran++;
    }
    assert(killed > 0 && ran > 0, `${killed} children killed, ${ran} writes answered`);
  });
});

Deno.test("a merge whose engine is killed leaves all of it or nothing, and repeating it ends the same", async () => {
  await withBranch(async (world) => {
    await world.branch(
      "pr-1",
      "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 40009) INSERT INTO items SELECT i, 'x', i FROM n",
    );
    const answers: number[] = [];
    let killed = 0;
    for (let round = 0; round < 4; round++) {
      const merging = mergeBranch(world);
      await pause(20 + round * 60);
      killed += await killChildren(world.app.deps.config.dataDir);
      answers.push((await merging).status);
      const [row] = await world.trunk("SELECT count(*) FROM items");
      assert(row?.[0] === 3 || row?.[0] === 40_003, String(row));
    }
    assert(answers.every((status) => status === 200 || status === 503), answers.join());
    assert(killed > 0, "no child was killed");
    assertEquals((await mergeBranch(world)).status, 200);
    assertEquals(await world.trunk("SELECT count(*) FROM items"), [[40_003]]);
    const merges = await world.trunk(
      "SELECT count(*) FROM _service_meta_audit WHERE operation = 'merge' AND rows_written > 0",
    );
    assertEquals(merges, [[1]]);
    assertEquals(await world.trunk("PRAGMA integrity_check"), [["ok"]]);
  });
});

/** Rows of a SELECT, asked again while the killed child has no successor. */
async function readPast({ query }: TestNamespace, sql: string): Promise<unknown[][]> {
  for (let attempt = 0;; attempt++) {
    const answer = await query(sql);
    if (answer.status !== 503 || attempt === 20) return rowsOf(answer);
    await pause(250);
  }
}

/** Until the first run's lease is over. */
async function repeat<Answer extends { readonly status: number }>(
  call: () => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 0;; attempt++) {
    const answer = await call();
    if (answer.status !== 409 || attempt === 100) return answer;
    await pause(500);
  }
}
