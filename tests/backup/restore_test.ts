// A control plane that comes back from its backup: what was used since counts no second time, money adds up, and nothing that
// somebody may still need is dropped.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { verifySession } from "../../lib/access/verify_session.ts";
import { dataFormat } from "../../lib/store/data_format.ts";
import { signIn } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { backupWorld, dataOf } from "./backup_world.ts";

/** What counts once, and one token that is revoked later. */
interface Held {
  readonly execution: string;
  readonly approval: string;
  readonly handoff: string;
  readonly session: string;
  readonly cookie: string;
  readonly revoked: { readonly id: string; readonly token: string };
}

const KEYED = { headers: { "idempotency-key": "once" } };
const INSERT = "INSERT INTO t (a) VALUES (9)";

async function hold(app: StartedApp, { token, database, query, mint, setup }: TestNamespace): Promise<Held> {
  const ask = async (path: string, body: unknown) =>
    JSON.parse((await app.request("POST", path, { token, body })).text);
  await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "INSERT INTO t (a) VALUES (1), (2)");
  const proposed = await ask(`${database.path}/propose`, { sql: "INSERT INTO t (a) VALUES (3)" });
  const rule = { tableGlob: "t", actions: ["delete"], effect: "require_approval" };
  await ask("/api/namespaces/acme/databases/main/rules", rule);
  const asked = JSON.parse((await query("DELETE FROM t WHERE id = 1")).text);
  const approval = `/api/namespaces/acme/approvals/${asked.approvalUrl.split("/").at(-1)}`;
  dataOf(await app.request("POST", `${approval}/approve`, { token: app.operatorKey }));
  const handoff = await ask(`${database.path}/handoff`, { role: "read", ttlSec: 600 });
  const user = { namespaceSlug: "acme", databaseSlug: "main", userId: "7" };
  const session = await ask("/v1/sessions", user);
  return {
    execution: proposed.data.executionToken,
    approval: asked.approvalToken,
    handoff: handoff.data.token,
    session: session.data.token,
    cookie: (await signIn(app, { role: "admin" })).cookie,
    revoked: await mint("read"),
  };
}

async function useAll(app: StartedApp, { token, database, query }: TestNamespace, held: Held): Promise<void> {
  dataOf(await query(INSERT, [], KEYED));
  const post = (call: string, body: unknown) =>
    app.request("POST", `${database.path}/${call}`, { token, body });
  dataOf(await post("apply", { executionToken: held.execution }));
  dataOf(await post("redeem_approval", { approvalToken: held.approval }));
  dataOf(await app.request("DELETE", `/api/namespaces/acme/tokens/${held.revoked.id}`, { token }));
}

async function isSession(app: StartedApp, jwt: string): Promise<boolean> {
  const namespace = await app.deps.control.namespaces.bySlug("acme");
  const database = namespace && await app.deps.control.databases.bySlug(namespace.id, "main");
  assert(database);
  const { control: { sessionKeys }, clock } = app.deps;
  const place = { namespaceId: database.namespaceId, databaseId: database.id, branchRef: "main" };
  return (await verifySession({ sessionKeys, clock }, place, jwt)).ok;
}

/** Of all records of a control plane. */
async function idsIn(kvPath: string): Promise<Set<unknown>> {
  using kv = await Deno.openKv(kvPath);
  const records = await Array.fromAsync(kv.list({ prefix: [] }), ({ value }) => Object(value).id);
  return new Set(records);
}

Deno.test("what was used, ended or revoked since the backup counts no second time", async () => {
  await using world = await backupWorld();
  let held: Held;
  let token: string;
  let path: string;
  let databaseId: string;
  {
    await using app = await world.start();
    const acme = await app.namespace();
    token = acme.token;
    path = acme.database.path;
    databaseId = acme.database.id;
    held = await hold(app, acme);
    assert(await isSession(app, held.session));
    assertEquals((await world.command(["take", "b.tar"])).code, 0);
    await useAll(app, acme, held);
  }
  const unasked = await world.command(["restore", "b.tar"]);
  assertMatch(unasked.text, /^Not done: Name another DATA_DIR, or add --replace/);
  const newer = JSON.stringify({ format: 9, oldestReader: 9, writtenBy: "cubby 9" });
  await Deno.writeTextFile(`${world.dataDir}/format.json`, newer);
  const older = await world.command(["restore", "b.tar", "--replace"]);
  assertMatch(older.text, /^Not done: Use a newer version/);
  await Deno.writeTextFile(`${world.dataDir}/format.json`, JSON.stringify(dataFormat));
  const restored = await world.command(["restore", "b.tar", "--replace"]);
  assertEquals(restored.code, 0, restored.text);
  assertMatch(
    restored.text,
    /kept as .*kv\.sqlite3\.before-[^]*Ended: approvals \(1\), proposals \(1\), handoffs \(1\)/,
  );
  const before: string[] = [];
  for await (const { name } of Deno.readDir(world.dataDir)) {
    if (!name.startsWith("kv.")) continue;
    const { mode } = await Deno.stat(`${world.dataDir}/${name}`);
    assertEquals([name, (mode ?? 0) & 0o077], [name, 0]);
    if (name.includes(".before-") && !name.endsWith("-wal")) before.push(`${world.dataDir}/${name}`);
  }
  // What was kept is the control plane as it was, with all that has happened since the backup.
  const [kept = "", ...others] = before;
  assertEquals(others, []);
  const ids = await idsIn(kept);
  assertEquals([ids.has(held.revoked.id), ids.has(databaseId)], [false, true]);

  await using app = await world.start();
  const post = async (call: string, body: unknown, options = {}) => {
    const { status, text } = await app.request("POST", call, { token, body, ...options });
    return { status, ...JSON.parse(text) };
  };
  // A keyed write is found in its own database, and does not run again.
  assertEquals((await post(`${path}/query`, { sql: INSERT, params: [] }, KEYED)).status, 200);
  const applied = await post(`${path}/apply`, { executionToken: held.execution });
  const redeemed = await post(`${path}/redeem_approval`, { approvalToken: held.approval });
  const handed = await post("/v1/handoff/redeem", { token: held.handoff, name: "late" });
  assertEquals([applied.code, redeemed.code, handed.code], [
    "execution_not_found",
    "approval_denied",
    "handoff_not_found",
  ]);
  assertMatch(redeemed.reason, /restored from a backup/);
  assertEquals(
    rowsOf(await app.request("POST", `${path}/query`, { token, body: { sql: "SELECT count(*) FROM t" } })),
    [[3]],
  );
  const me = await app.request("GET", "/api/me", { headers: { cookie: held.cookie } });
  assertEquals([me.body.code, await isSession(app, held.session)], ["session_ended", false]);
  // What was revoked since is alive again: the command says so, and can end all.
  assertMatch(restored.text, /API tokens, members and passkeys count as they did then/);
  assertEquals((await app.request("GET", "/v1/me", { token: held.revoked.token })).status, 200);
  const audit = await app.request("GET", "/api/audit", { token: app.operatorKey });
  assertMatch(audit.text, /"action":"backup\.restored".*"takenAt":"20/);
});

Deno.test("with --revoke-tokens no token counts any more, and what is missing or unknown is named by verify", async () => {
  await using world = await backupWorld();
  let token: string;
  let ids: string[];
  {
    await using app = await world.start();
    const acme = await app.namespace();
    token = acme.token;
    const second = await acme.createDatabase("second");
    await acme.query("SELECT 1");
    await app.deps.query.meter.tick();
    assertEquals((await world.command(["take", "b.tar"])).code, 0);
    ids = [acme.database.id, second.id, (await acme.createDatabase("late")).id];
  }
  const [, second = "", late = ""] = ids;
  await Deno.remove(`${world.dataDir}/tenants/${second.slice(-2).toLowerCase()}/${second}.db`);
  const { code, text } = await world.command(["verify", "b.tar"]);
  assertEquals(code, 1, text);
  assertMatch(text, /Money of 1 namespaces adds up/);
  assert(text.includes(`wrong: acme/second: its file is missing (${second})`), text);
  assert(text.includes(`wrong: ${late}: a file that the backup does not know`), text);
  assertMatch(text, /2 things are wrong$/);

  const restored = await world.command(["restore", "b.tar", "--replace", "--revoke-tokens"]);
  assertEquals(restored.code, 0, restored.text);
  await using app = await world.start();
  assertEquals((await app.request("GET", "/v1/me", { token })).status, 401);
  const asOperator = (path: string) => app.request("GET", path, { token: app.operatorKey });
  const money = dataOf(await asOperator("/api/namespaces/acme/balance"));
  const nano = (usd: unknown) => Math.round(Number(usd) * 1e9);
  const { creditedUsd, balanceUsd, reservedUsd, usedUsd } = money;
  assertEquals(nano(creditedUsd), nano(balanceUsd) + nano(reservedUsd) + nano(usedUsd));
  assertEquals((await asOperator("/api/namespaces/acme/databases/late")).status, 404);
});

Deno.test("a restore into an empty folder names the databases whose files it does not bring", async () => {
  await using world = await backupWorld();
  {
    await using app = await world.start();
    await app.namespace("acme");
    assertEquals((await world.command(["take", "b.tar"])).code, 0);
  }
  const lost =
    /Databases without a file here: 1 \(acme\/main\); bring the folder tenants back before the start/;
  const empty = await world.command(["restore", "b.tar"], { DATA_DIR: `${world.folder}/empty` });
  assertEquals(empty.code, 0, empty.text);
  assertMatch(empty.text, lost);
  const inPlace = await world.command(["restore", "b.tar", "--replace"]);
  assertEquals([inPlace.code, lost.test(inPlace.text)], [0, false], inPlace.text);
});
