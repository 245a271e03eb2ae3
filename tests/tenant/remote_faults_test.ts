// What the network and the server can do to a store over sqld: nothing is lost, nothing runs twice, nothing is told.
import { assert, assertEquals } from "@std/assert";
import { Tenant } from "../contracts/tenant_store.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { failureOf, standBetween, withSqld } from "./sqld_world.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";

/** The first request that commits a call's changes. */
function commits(sql: string): boolean {
  return sql.includes('"COMMIT"') && sql.includes("_service_meta_audit");
}

Deno.test("an answer to a commit that is lost on its way back is looked up, and the call ran once", async () => {
  await withSqld(async (world) => {
    let lost = 0;
    const store = world.store({
      fetch: standBetween(async ({ sql }, go) => {
        const answer = await go();
        if (!commits(sql) || !sql.includes("lose me") || lost++ > 0) return answer;
        await answer.body?.cancel();
        throw new TypeError("connection closed before message completed");
      }),
    });
    const tenant = await Tenant.create(store, [T]);
    const log = { operation: "lose me" };
    const outcome = await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]], {
      log: { ...logOf(tenant), ...log },
    });
    assertEquals([outcome.ok, lost], [true, 1]);
    assertEquals(await tenant.rows("SELECT a FROM t"), [["x"]]);
    assertEquals(await tenant.rows("SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1"), [[1]]);
  });
});

Deno.test("a commit that never reached the server is found missing and the call runs again, once", async () => {
  await withSqld(async (world) => {
    let lost = 0;
    const store = world.store({
      fetch: standBetween(({ sql }, go) => {
        if (!commits(sql) || !sql.includes("lose me") || lost++ > 0) return go();
        return Promise.reject(new TypeError("connection reset"));
      }),
    });
    const tenant = await Tenant.create(store, [T]);
    const outcome = await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]], {
      log: { ...logOf(tenant), operation: "lose me" },
    });
    assertEquals([outcome.ok, lost], [true, 2]);
    assertEquals(await tenant.rows("SELECT a FROM t"), [["x"]]);
    assertEquals(await tenant.rows("SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1"), [[1]]);
  });
});

Deno.test("where nobody can tell whether a commit took place, the answer says so", async () => {
  await withSqld(async (world) => {
    let down = false;
    const store = world.store({
      fetch: standBetween(({ sql }, go) => {
        if (commits(sql) && sql.includes("lose me")) down = true;
        return down ? Promise.reject(new TypeError("connection reset")) : go();
      }),
    });
    const tenant = await Tenant.create(store, [T]);
    const error = await failureOf(() =>
      tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]], {
        log: { ...logOf(tenant), operation: "lose me" },
      })
    );
    assertEquals(error.code, "outcome_unknown");
    down = false;
  });
});

Deno.test("a catalogue that is opened, held by a writer or cut off at that moment is asked again", async () => {
  await withSqld(async (world) => {
    const faults: Record<string, { left: number; answer: (body: string) => Promise<Response> }> = {
      "INSERT INTO tenant": { left: 7, answer: () => Promise.resolve(new Response("{}", { status: 404 })) },
      "DELETE FROM tenant": { left: 3, answer: (body) => Promise.resolve(busyAtBegin(body)) },
      "SELECT place, generation": {
        left: 1,
        answer: () => Promise.reject(new TypeError("connection reset")),
      },
    };
    const store = world.store({
      fetch: standBetween(({ sql }, go) => {
        const fault = Object.entries(faults).find(([part]) => sql.includes(part))?.[1];
        return fault && fault.left-- > 0 ? fault.answer(sql) : go();
      }),
    });
    const tenant = await Tenant.create(store, [T]);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
    await store.drop(tenant.id);
    assert(Object.values(faults).every(({ left }) => left < 0), JSON.stringify(faults));
    const second = world.store();
    assertEquals(
      (await failureOf(() => second.open({ databaseId: tenant.id, namespaceId: "ns" }).inspect([]))).code,
      "store_unavailable",
    );
  });
});

Deno.test("of many changes of the catalogue at once the server has one at a time", async () => {
  await withSqld(async (world) => {
    let [running, most] = [0, 0];
    const store = world.store({
      fetch: standBetween(async ({ sql }, go) => {
        if (!/INSERT (OR REPLACE )?INTO (loose|tenant)|DELETE FROM (loose|tenant)/.test(sql)) {
          return await go();
        }
        most = Math.max(most, ++running);
        return await go().finally(() => running--);
      }),
    });
    const tenants = await Promise.all(Array.from({ length: 12 }, () => Tenant.create(store, [T])));
    await Promise.all(tenants.map(({ id }) => store.drop(id)));
    assertEquals([running, most], [0, 1]);
  });
});

Deno.test("a dry run whose time is over when its answer comes is undone, and the next write runs", async () => {
  await withSqld(async (world) => {
    const clock = new TurnableClock();
    let baton: string | null = null;
    let undone = 0;
    const store = world.store({
      clock,
      fetch: standBetween(async ({ sql }, go) => {
        const answer = await go();
        if (baton !== null && sql.includes(baton) && sql.includes('"ROLLBACK"')) undone++;
        if (sql.includes("SAVEPOINT effect")) {
          ({ baton } = await answer.clone().json());
          clock.turn(60_000);
        }
        return answer;
      }),
    });
    const tenant = await Tenant.create(store, [T]);
    const dry = await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]], { dryRun: true });
    assert(dry.ok === false);
    assertEquals(dry.failure.kind, "timeout");
    assertEquals((await tenant.run("write", [["INSERT INTO t (a) VALUES ('y')"]])).ok, true);
    assertEquals(await tenant.rows("SELECT a FROM t"), [["y"]]);
    assertEquals([typeof baton, undone], ["string", 1]);
  });
});

Deno.test("a location is made and removed once, also where the admin API fails or its answer is lost", async () => {
  await withSqld(async (world) => {
    const asked: string[] = [];
    const lose = async (answer: Response) => {
      await answer.body?.cancel();
      throw new TypeError("connection closed before message completed");
    };
    const store = world.store({
      fetch: standBetween(async ({ url }, go) => {
        const call = /\/v1\/namespaces\/db-[^/]+(\/create)?$/.exec(url);
        if (!call) return await go();
        const times = asked.push(call[1] ?? "remove") % 3;
        if (times === 1) return new Response("database is locked", { status: 500 });
        return times === 2 ? await lose(await go()) : await go();
      }),
    });
    const tenant = await Tenant.create(store, [T]);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
    await store.drop(tenant.id);
    await store.sweep();
    assertEquals(asked, [...Array<string>(3).fill("/create"), ...Array<string>(3).fill("remove")]);
  });
});

Deno.test("a server that is away or answers garbage is store_unavailable, without its words or address", async () => {
  await withSqld(async (world) => {
    let broken: (() => Promise<Response>) | null = null;
    const store = world.store({ fetch: standBetween((_, go) => broken ? broken() : go()) });
    const tenant = await Tenant.create(store, [T]);
    for (
      const answer of [
        () => Promise.reject(new TypeError(`tcp connect error: ${world.sqld.url}`)),
        () => Promise.resolve(new Response("<html>secret gateway</html>")),
        () => Promise.resolve(new Response('{"error":"secret words"}', { status: 500 })),
        () => Promise.resolve(new Response('{"baton":null,"results":[{"type":"ok"}]}')),
        () => Promise.resolve(new Response("denied: secret", { status: 401 })),
      ]
    ) {
      broken = answer;
      for (const level of ["read", "write"] as const) {
        const sql = level === "read" ? "SELECT 1" : "INSERT INTO t (a) VALUES ('never')";
        const error = await failureOf(() => tenant.run(level, [[sql]]));
        assertEquals(error.code, "store_unavailable");
        assert(!error.message.includes("secret") && !error.message.includes("127.0.0.1"), error.message);
      }
      broken = null;
    }
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
  });
});

Deno.test("64 writers at once on one database all get through", async () => {
  await withSqld(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, n) => tenant.run("write", [["INSERT INTO t (a) VALUES (?)", `w${n}`]])),
    );
    assertEquals(outcomes.every((outcome) => outcome.ok === true), true);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[64]]);
  });
});

function logOf(tenant: Tenant) {
  return {
    ...{
      id: `qry_${tenant.id.slice(3)}`,
      ts: 1,
      namespaceId: "ns_1",
      databaseId: tenant.id,
      tokenId: "tok_1",
    },
    ...{ userId: null, statementCount: 1, sql: "…" },
  };
}

/** The answer to a request whose transaction another writer keeps from its beginning. */
function busyAtBegin(body: string): Response {
  const { requests }: { requests: { type: string }[] } = JSON.parse(body);
  const result = {
    step_results: [null, null],
    step_errors: [{ message: "SQLITE_BUSY: database is locked", code: "SQLITE_BUSY" }, null],
  };
  const results = requests.map(({ type }) => ({
    type: "ok",
    response: { type, ...(type === "batch" ? { result } : {}) },
  }));
  return Response.json({ baton: null, results });
}
