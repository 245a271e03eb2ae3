// One statement with many parameter sets under what guards writes: roles, keys, dry runs, bounds, rules and approvals.
import { assertEquals } from "@std/assert";
import type { ApiRequest } from "../testing/call_api.ts";
import { testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { heldBy, shown, writesIn, type WriteWorld } from "./write_world.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a)";
const ROWS = "INSERT INTO t SELECT value, 'old' FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]')";
const UPDATE = "UPDATE t SET a = ? WHERE id = ?";
/** Twelve sets: more than a dry run runs one by one. */
const SETS = Array.from({ length: 12 }, (_, at) => [`new ${at}`, at + 1]);

interface SetsWorld extends WriteWorld {
  readonly sent: (body: object, options?: ApiRequest) => ReturnType<WriteWorld["post"]>;
  readonly values: () => Promise<unknown[]>;
}

async function worldOf(app: StartedApp, slug: string): Promise<SetsWorld> {
  const world = await writesIn(app, slug);
  await world.setup(T, ROWS);
  return {
    ...world,
    sent: (more, options) =>
      world.post("batch", { sql: UPDATE, paramSets: SETS, transaction: true, ...more }, options),
    values: async () => (await world.rows("SELECT a FROM t ORDER BY id")).flat(),
  };
}

const OLD = Array(12).fill("old");
const NEW = SETS.map(([value]) => value);

testSteps("paramSets", worldOf, {
  "needs the role that its statement needs": async ({ shop, sent, values }) => {
    const { token } = await shop.mint("read");
    const answer = await sent({}, { token });
    assertEquals([answer.status, answer.body.code], [403, "role_too_low"], answer.text);
    assertEquals(await values(), OLD);
    const read = await sent({ sql: "SELECT a FROM t WHERE id = ?", paramSets: [[1], [2]] }, { token });
    assertEquals([read.status, JSON.parse(read.text).data.rows], [200, [["old"], ["old"]]]);
  },
  "runs once under a key, and answers its repetition with the same text": async ({ rows, sent }) => {
    const add = { sql: "INSERT INTO t (a) VALUES (?) RETURNING id", paramSets: [["x"], ["y"]] };
    for (const transaction of [true, false]) {
      const headers = { "Idempotency-Key": `insert-${transaction}` };
      const first = await sent({ ...add, transaction }, { headers });
      const again = await sent({ ...add, transaction }, { headers });
      assertEquals([first.status, again.text], [200, first.text]);
      assertEquals(again.headers.get("idempotency-replayed"), "true");
      const other = await sent({ ...add, paramSets: [["z"]], transaction }, { headers });
      assertEquals([other.status, other.body.code], [422, "replay_mismatch"]);
    }
    assertEquals(await rows("SELECT count(*) FROM t"), [[16]]);
    const step = { "Plan-Key": "plan", "Plan-Step": "one" };
    const first = await sent(add, { headers: step });
    const again = await sent(add, { headers: step });
    assertEquals([again.text, again.headers.get("plan-replayed")], [first.text, "true"]);
  },
  "shows in a dry run what all sets together would do, and keeps nothing": async ({ sent, values }) => {
    const answer = await sent({}, { headers: { "X-Dry-Run": "1" } });
    const { estimatedAffectedRows, cascadedRows, action, preview, plan } = shown(answer);
    assertEquals([estimatedAffectedRows, cascadedRows, action, plan.length], [12, 0, "write", 1]);
    assertEquals(preview?.before, SETS.slice(0, 10).map(([, id]) => [id, "old"]));
    assertEquals(preview?.after, SETS.slice(0, 10).map(([value, id]) => [id, value]));
    const only = await sent({ sql: "SELECT ?", paramSets: [[1]] }, { headers: { "X-Dry-Run": "1" } });
    assertEquals([only.status, only.body.issues?.[0]?.path], [400, "sql"], only.text);
    assertEquals(await values(), OLD);
  },
  "fails in a dry run at the set that would fail": async ({ sent, setup }) => {
    await setup("CREATE TABLE u (a UNIQUE)", "INSERT INTO u VALUES (11)");
    const body = { sql: "INSERT INTO u VALUES (?)", paramSets: SETS.map(([, id]) => [id]) };
    const answer = await sent(body, { headers: { "X-Dry-Run": "1" } });
    assertEquals([answer.status, answer.body.failedIndex], [400, 10], answer.text);
  },
  "keeps nothing where all sets together change more rows than the caller lets them": async (
    { sent, values },
  ) => {
    for (const transaction of [true, false]) {
      const answer = await sent({ transaction }, { headers: { "X-Max-Affected": "11" } });
      assertEquals([answer.status, answer.body.code], [400, "too_many_affected"], answer.text);
    }
    assertEquals(await values(), OLD);
    assertEquals((await sent({}, { headers: { "X-Max-Affected": "12" } })).status, 200);
  },
  "counts what all sets together replace, whatever triggers update beside": async ({ sent, setup, rows }) => {
    await setup(
      "CREATE TABLE u (id INTEGER PRIMARY KEY, a, b UNIQUE)",
      "CREATE TABLE sum (n)",
      "CREATE TRIGGER counted AFTER INSERT ON u BEGIN UPDATE sum SET n = n + 1; END",
      "INSERT INTO sum VALUES (0)",
      "INSERT INTO u SELECT id, a, id FROM t",
    );
    // Of each set: a row, the one or two that it replaces, and the sum.
    const paramSets = SETS.map(([value, id]) => [id, value, Number(id) % 2 === 0 ? id : Number(id) + 1]);
    const replace = { sql: "REPLACE INTO u VALUES (?, ?, ?)", paramSets };
    const dry = shown(await sent(replace, { headers: { "X-Dry-Run": "1" } }));
    assertEquals([dry.estimatedAffectedRows, dry.cascadedRows], [12, 12 + 12 + 6]);
    const refused = await sent(replace, { headers: { "X-Max-Affected": "41" } });
    assertEquals([refused.body.code, Reflect.get(refused.body, "affected")], ["too_many_affected", 42]);
    assertEquals((await sent(replace, { headers: { "X-Max-Affected": "42" } })).status, 200);
    assertEquals(await rows("SELECT count(*), (SELECT n FROM sum) FROM u"), [[6, 24]]);
  },
  "takes one snapshot before sets that are destructive": async ({ sent, post, values }) => {
    const answer = await sent({ sql: "UPDATE t SET a = ?", paramSets: [["first"], ["second"]] });
    const { meta } = JSON.parse(answer.text);
    assertEquals([meta.rowsWritten, /-update-t$/.test(meta.snapshot)], [24, true], answer.text);
    assertEquals((await post("restore", { snapshot: meta.snapshot })).status, 200);
    assertEquals(await values(), OLD);
  },
  "counts the rows of all sets for a rule": async ({ sent, rule, values }) => {
    await rule({ tableGlob: "t", effect: "deny", minRows: 12 });
    const denied = await sent({});
    assertEquals([denied.status, denied.body.code], [403, "rule_denied"], denied.text);
    assertEquals(await values(), OLD);
    assertEquals((await sent({ paramSets: SETS.slice(1) })).status, 200);
  },
  "waits for a person, who sees the sets, and then runs what was approved": async (world) => {
    const { app, decide, redeem, rows, rule, sent, shop, values } = world;
    await rule({ tableGlob: "t", effect: "require_approval" });
    for (const transaction of [true, false]) {
      const held = heldBy(await sent({ transaction }));
      const list = await app.request("GET", `/api/namespaces/${shop.slug}/approvals?state=pending`, {
        token: app.operatorKey,
      });
      const [{ statements, paramSets, affectedRows, effects }] = JSON.parse(list.text).data;
      assertEquals([statements[0].sql, paramSets, affectedRows, effects.length], [
        UPDATE,
        { count: 12, first: SETS },
        12,
        1,
      ]);
      assertEquals((await redeem(held.approvalToken)).body.code, "approval_pending");
      assertEquals((await decide(held.id, "approve")).status, 200);
      const answer = await redeem(held.approvalToken);
      assertEquals([answer.status, JSON.parse(answer.text).data.sets.rowsWritten], [200, Array(12).fill(1)]);
      assertEquals(await values(), NEW);
      const ran = await rows(
        "SELECT statement_count FROM _service_meta_query_log WHERE operation = 'redeem_approval'",
      );
      assertEquals(ran.at(-1), [12]);
    }
  },
  "tells of each set that a person has approved what its triggers have written": async (world) => {
    const { decide, redeem, rule, sent, setup } = world;
    await setup(
      "CREATE TABLE seen (id INTEGER)",
      "CREATE TRIGGER sees AFTER UPDATE ON t BEGIN INSERT INTO seen VALUES (new.id), (old.id); END",
    );
    const paramSets = [["first", 1], ["none", 100], ["second", 2]];
    const asked = JSON.parse((await sent({ paramSets })).text).data;
    assertEquals([asked.sets.rowsWritten, asked.rowsWritten], [[3, 0, 3], 6]);
    await rule({ tableGlob: "t", effect: "require_approval" });
    for (const transaction of [true, false]) {
      const held = heldBy(await sent({ paramSets, transaction }));
      assertEquals((await decide(held.id, "approve")).status, 200);
      const { data } = JSON.parse((await redeem(held.approvalToken)).text);
      assertEquals([data.sets, data.rowsWritten], [asked.sets, 6]);
    }
  },
  "goes back to the person where other rows would change than were approved": async (world) => {
    const { decide, redeem, rule, sent, setup, values } = world;
    await rule({ tableGlob: "t", actions: ["update"], effect: "require_approval" });
    for (const [transaction, left] of [[true, 11], [false, 10]] as const) {
      const held = heldBy(await sent({ transaction }));
      await decide(held.id, "approve");
      await setup(`DELETE FROM t WHERE id = ${left + 1}`);
      const changed = await redeem(held.approvalToken);
      assertEquals([changed.status, changed.body.code], [409, "effect_changed"], changed.text);
      assertEquals(await values(), OLD.slice(0, left));
      await decide(held.id, "approve", { look: 1 });
      assertEquals((await redeem(held.approvalToken)).status, 200);
      await setup("DELETE FROM t", ROWS, `DELETE FROM t WHERE id > ${left}`);
    }
  },
});
