// The money ends in the middle of something: what has begun ends, what is in stays and is told, and nothing is used up.
import { assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { money } from "./money_world.ts";

const { run, test } = oneStore();
Deno.test("the end of the money", run);

const CAP = "monthly_cap_reached";

interface Purse {
  /** From now on the namespace may spend a millionth of a dollar more: a request, and not a row. */
  empty(): Promise<void>;
  fill(): Promise<void>;
}

function purseOf(app: StartedApp, tenant: TestNamespace): Purse {
  const cap = async (monthlyCapUsd: number | null) => {
    const options = { token: app.operatorKey, body: { monthlyCapUsd } };
    assertEquals((await app.request("PATCH", `/api/namespaces/${tenant.slug}`, options)).status, 200);
  };
  return {
    empty: async () => {
      await app.deps.query.meter.tick();
      const { used, writtenOff } = await money(app, tenant);
      await cap((used + writtenOff + 1_000) / 1e9);
    },
    fill: () => cap(null),
  };
}

test("in the middle of a transaction the next statement is refused, and what there is can be kept or undone", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const purse = purseOf(app, tenant);
  await tenant.setup("CREATE TABLE t (a)");
  let baton: string | null = null;
  const send = async (...statements: string[]): Promise<unknown[]> => {
    const requests = statements.map((sql) => ({ type: "execute", stmt: { sql } }));
    const path = `/hrana/${tenant.slug}/main/v2/pipeline`;
    const answer = await app.request("POST", path, { token: tenant.token, body: { baton, requests } });
    assertEquals(answer.status, 200, answer.text);
    const body = JSON.parse(answer.text);
    baton = body.baton;
    return body.results.map(({ error }: { error?: { code: string } }) => error?.code ?? "ok");
  };
  for (const end of ["COMMIT", "ROLLBACK"]) {
    await purse.empty();
    assertEquals(await send("BEGIN", `INSERT INTO t VALUES ('${end}')`), ["ok", "ok"]);
    assertEquals(await send("INSERT INTO t VALUES ('unpaid')", "SELECT 1", end), [
      ...["MONTHLY_CAP_REACHED", "MONTHLY_CAP_REACHED", "ok"],
    ]);
    await purse.fill();
  }
  assertEquals(rowsOf(await tenant.query("SELECT a FROM t")), [["COMMIT"]]);
});

test("in the middle of a file that is appended its parts before stay, and it goes on with its id", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const purse = purseOf(app, tenant);
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY)");
  const file = `id\n${Array.from({ length: 6_000 }, (_, at) => at + 1).join("\n")}\n`;
  const send = () =>
    app.request("POST", `${tenant.database.path}/import?format=csv&mode=append&table=t&id=a-file`, {
      token: tenant.token,
      body: file,
    });
  await purse.empty();
  const cut = await send();
  const { rows } = JSON.parse(cut.text);
  assertEquals([cut.status, cut.body.code, rows], [402, CAP, 5_000]);
  await purse.fill();
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[5_000]]);
  assertEquals((await send()).status, 200);
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[6_000]]);
});

test("between two migrations the first one stays and is told, and the second one is applied later", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const purse = purseOf(app, tenant);
  const files = ["a", "b"].map((name) => ({
    name: `${name}.sql`,
    sql: `CREATE TABLE ${name} (v); INSERT INTO ${name} VALUES (1)`,
  }));
  const migrate = async () => {
    const path = `${tenant.database.path}/migrations`;
    const answer = await app.request("POST", path, { token: tenant.token, body: { files } });
    const { applied, data, code = null } = JSON.parse(answer.text);
    return [code, applied ?? data?.applied];
  };
  await purse.empty();
  assertEquals(await migrate(), [CAP, ["a.sql"]]);
  assertEquals(await migrate(), [CAP, []]);
  await purse.fill();
  assertEquals(await migrate(), [null, ["b.sql"]]);
});

test("without money neither an execution token nor an approval is used up", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const purse = purseOf(app, tenant);
  await tenant.setup("CREATE TABLE t (a)", "CREATE TABLE held (a)");
  const post = (operation: string, body: unknown) =>
    app.request("POST", `${tenant.database.path}/${operation}`, { token: tenant.token, body });
  const manage = async (path: string, body: unknown) => {
    const options = { token: app.operatorKey, body };
    const { status, text } = await app.request("POST", `/api/namespaces/${tenant.slug}/${path}`, options);
    assertEquals(Math.floor(status / 100), 2, text);
  };
  await manage("databases/main/rules", { tableGlob: "held", effect: "require_approval" });
  const { data: { executionToken } } = JSON.parse(
    (await post("propose", { sql: "INSERT INTO t VALUES (1)" })).text,
  );
  const held = JSON.parse((await tenant.query("INSERT INTO held VALUES (1)")).text);
  await manage(`approvals/${held.approvalUrl.split("/").at(-1)}/approve`, {});
  await purse.empty();
  await tenant.batch([["SELECT 1"], ["INSERT INTO t VALUES (2)"]]);
  for (const code of [CAP, undefined]) {
    assertEquals((await post("apply", { executionToken })).body.code, code);
    assertEquals((await post("redeem_approval", { approvalToken: held.approvalToken })).body.code, code);
    await purse.fill();
  }
  assertEquals(rowsOf(await tenant.query("SELECT a FROM t UNION ALL SELECT a FROM held")), [[2], [1], [1]]);
});
