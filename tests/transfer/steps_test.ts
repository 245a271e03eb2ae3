// Exports and imports as steps of a plan: a repetition answers what the first one answered, and a file is not held in memory.
import { assert, assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { testSteps } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { transferWorld } from "./transfer_world.ts";

const step = (name: string) => ({ headers: { "plan-key": "move", "plan-step": name } });
const APPEND = "format=csv&mode=append&table=t";

testSteps("steps of a plan that move files", transferWorld, {
  "an import runs once, and another file under its step is refused": async (world) => {
    const { acme } = world;
    await acme.setup("CREATE TABLE t (v)");
    const count = async () => rowsOf(await acme.query("SELECT count(*) FROM t"))[0]?.[0];
    const file = `v\n${"one\n".repeat(3000)}`;
    const [first, again] = [
      await world.import(APPEND, file, step("1")),
      await world.import(APPEND, file, step("1")),
    ];
    assertEquals([first.status, await count()], [200, 3000], first.text);
    assertEquals([again.status, again.headers.get("plan-replayed"), again.text], [200, "true", first.text]);
    for (const other of [`${file}two\n`, file.slice(0, -4), file.replace("one", "two")]) {
      assertEquals((await world.import(APPEND, other, step("1"))).body.code, "replay_mismatch");
    }
    assertEquals((await world.import(`${APPEND}&atomic=1`, file, step("1"))).body.code, "replay_mismatch");
    assertEquals(await count(), 3000);
    assertEquals((await world.import(APPEND, file, step("2"))).headers.get("plan-replayed"), null);
    assertEquals(await count(), 6000);
  },

  "rows come in once, also where the service died before it kept the answer": async (
    { app, acme, ...world },
  ) => {
    await acme.setup("CREATE TABLE t (v)");
    const file = `v\n${"one\n".repeat(3000)}`;
    const first = await world.import(APPEND, file, step("1"));
    for await (const { key } of app.deps.kv.list({ prefix: ["replay"] })) await app.deps.kv.delete(key);
    const second = await world.import(APPEND, file, step("1"));
    assertEquals([second.status, second.headers.get("plan-replayed"), second.text], [200, null, first.text]);
    assertEquals(rowsOf(await acme.query("SELECT count(*) FROM t")), [[3000]]);
  },

  "a whole file comes in once, also where the service died before it kept the answer": async (
    { app, acme, ...world },
  ) => {
    const file = "CREATE TABLE t (v);\nINSERT INTO t VALUES ('one');\n";
    for (const mode of ["create", "replace"]) {
      const send = (text: string) => world.import(`format=sql&mode=${mode}`, text, step(mode));
      const first = await send(file);
      for await (const { key } of app.deps.kv.list({ prefix: ["replay"] })) await app.deps.kv.delete(key);
      await acme.setup(`INSERT INTO t VALUES ('since ${mode}')`);
      assertEquals((await send(`${file}\n`)).body.code, "replay_mismatch");
      const second = await send(file);
      assertEquals([second.status, second.text], [200, first.text]);
      assertEquals(rowsOf(await acme.query("SELECT v FROM t")), [["one"], [`since ${mode}`]]);
    }
  },

  "a file that is to come into an empty database is not read where there are tables": async (world) => {
    await world.acme.setup("CREATE TABLE t (v)");
    let left = 100;
    const file = new ReadableStream<Uint8Array>({
      pull: (body) => left-- > 0 ? body.enqueue(new Uint8Array(1000)) : body.close(),
    });
    const { status, body, text } = await world.import("format=sql&mode=create", file, step("early"));
    assertEquals([status, body.code, body.issues?.[0]?.path], [400, "import_refused", "mode"], text);
    assert(left > 90, `${100 - left} pieces were read`);
  },

  "a whole file that a person has to approve waits for one approval, and its step gets the answer of the import":
    async (
      world,
    ) => {
      const { acme, app } = world;
      await acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES ('old')");
      const rules = `/api/namespaces/${acme.slug}/databases/main/rules`;
      const body = { tableGlob: "t", effect: "require_approval" };
      assertEquals((await app.request("POST", rules, { token: acme.token, body })).status, 201);
      const replace = (v: string, name = "1") =>
        world.import(
          "format=sql&mode=replace",
          `CREATE TABLE t (v);\nINSERT INTO t VALUES ('${v}');\n`,
          step(name),
        );
      const [held, again] = [await replace("new"), await replace("new")];
      assertEquals([held.status, held.body.code], [403, "approval_required"], held.text);
      assertEquals(
        again.text.replace(/"requestId":"[^"]*"/, ""),
        held.text.replace(/"requestId":"[^"]*"/, ""),
      );
      // Another file, and another step, are other imports.
      const others = [await replace("other"), await replace("new", "2")].map(({ text }) => text);
      assertEquals(new Set([held.text, ...others].map((text) => JSON.parse(text).approvalToken)).size, 3);
      const labels = async () => {
        const { text } = await app.request("GET", `${acme.database.path}/snapshots`, { token: acme.token });
        return JSON.parse(text).data.filter(({ label }: { label: string }) => /import/.test(label)).length;
      };
      assertEquals(await labels(), 3);
      const { approvalUrl, approvalToken } = JSON.parse(held.text);
      const approve = `/api/namespaces/${acme.slug}/approvals/${approvalUrl.split("/").at(-1)}/approve`;
      assertEquals((await app.request("POST", approve, { token: app.operatorKey })).status, 200);
      assertEquals(JSON.parse((await replace("new")).text).approvalToken, approvalToken);
      const redeemed = await app.request("POST", `${acme.database.path}/redeem_approval`, {
        token: acme.token,
        body: { approvalToken },
      });
      assertEquals(redeemed.status, 200, redeemed.text);
      const done = await replace("new");
      assertEquals([done.status, done.headers.get("plan-replayed")], [200, "true"], done.text);
      assertEquals(JSON.parse(done.text).data, JSON.parse(redeemed.text).data);
      assertEquals((await replace("other")).body.code, "replay_mismatch");
    },
  "a whole file that ran without the rule that held it is not put in place again by its approval": async (
    world,
  ) => {
    const { acme, app } = world;
    await acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES ('old')");
    const rules = `/api/namespaces/${acme.slug}/databases/main/rules`;
    const body = { tableGlob: "t", effect: "require_approval" };
    const rule = await app.request("POST", rules, { token: acme.token, body });
    const send = () =>
      world.import(
        "format=sql&mode=replace",
        "CREATE TABLE t (v);\nINSERT INTO t VALUES ('new');\n",
        step("1"),
      );
    const { approvalUrl, approvalToken } = JSON.parse((await send()).text);
    const { id } = JSON.parse(rule.text).data;
    assertEquals((await app.request("DELETE", `${rules}/${id}`, { token: acme.token })).status, 200);
    const ran = await send();
    assertEquals(ran.status, 200, ran.text);
    await acme.setup("INSERT INTO t VALUES ('since')");
    const approve = `/api/namespaces/${acme.slug}/approvals/${approvalUrl.split("/").at(-1)}/approve`;
    assertEquals((await app.request("POST", approve, { token: app.operatorKey })).status, 200);
    const redeemed = await app.request("POST", `${acme.database.path}/redeem_approval`, {
      token: acme.token,
      body: { approvalToken },
    });
    assertEquals([redeemed.status, redeemed.body.data], [200, ran.body.data], redeemed.text);
    assertEquals(rowsOf(await acme.query("SELECT v FROM t")), [["new"], ["since"]]);
  },

  "what has run is answered, also where its answer cannot be kept": async ({ app, acme, ...world }) => {
    await acme.setup("CREATE TABLE t (v)");
    const { replays } = app.deps.query;
    const claim = replays.claim.bind(replays);
    replays.claim = async (...all) => {
      const claimed = await claim(...all);
      if (claimed.state !== "claimed") return claimed;
      const store = () => Promise.reject(new AppError("meter_unreachable"));
      return { ...claimed, claim: { ...claimed.claim, store } };
    };
    try {
      const answer = await world.import(APPEND, "v\none\n", step("1"));
      assertEquals([answer.status, answer.body.data], [200, {
        tables: 1,
        rows: 1,
        notKept: [],
        snapshot: null,
      }]);
    } finally {
      Reflect.deleteProperty(replays, "claim");
    }
  },

  "an import that failed runs again": async (world) => {
    await world.acme.setup("CREATE TABLE t (v CHECK (v <> 'bad'))");
    assertEquals((await world.import(APPEND, "v\nbad\n", step("1"))).status, 400);
    const answer = await world.import(APPEND, "v\ngood\n", step("1"));
    assertEquals([answer.status, answer.headers.get("plan-replayed")], [200, null], answer.text);
  },

  "an export answers the same bytes, one that is longer than a result is made anew, and neither is cut":
    async (
      world,
    ) => {
      await world.acme.setup("CREATE TABLE t (v)", "INSERT INTO t VALUES ('a')");
      const query = "format=csv&table=t";
      const first = await world.export(query, step("1"));
      const text = await first.text();
      assertEquals([first.status, text], [200, "v\r\na\r\n"]);
      assertEquals(first.headers.get("x-request-id")?.includes(","), false);
      await world.acme.setup("INSERT INTO t VALUES ('b')");
      const again = await world.export(query, step("1"));
      const type = (answer: Response) => answer.headers.get("content-type");
      assertEquals([again.headers.get("plan-replayed"), type(again)], ["true", type(first)]);
      assertEquals(await again.text(), text);
      const more = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20) " +
        "INSERT INTO t SELECT hex(zeroblob(500000)) FROM c";
      await world.acme.setup(more);
      for (let i = 0; i < 2; i++) {
        const long = await world.export(query, step("2"));
        assertEquals(long.headers.get("plan-replayed"), null);
        assertEquals(await long.bytes(), await world.exported(query));
      }
    },

  "what asks for and ends transfers takes the headers too": async ({ app, acme }) => {
    for (const [method, path] of [["GET", "exports/x"], ["DELETE", "imports/x"]] as const) {
      const options = { token: acme.token, ...step(path) };
      const answer = await app.request(method, `${acme.database.path}/${path}`, options);
      assert(answer.status === 404 || answer.status === 501, answer.text);
    }
  },
});
