// What Turso's platform API, its tokens and its quotas can do to a store: nothing is lost, nothing runs twice, nothing
// is told.
import { assert, assertEquals } from "@std/assert";
import { rowsOf, Tenant } from "../contracts/tenant_store.ts";
import { openRelay } from "../testing/relay.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { ask, failureOf, standBetween } from "./sqld_world.ts";
import { type TursoWorld, withTurso } from "./turso_world.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)";

function insert(tenant: Tenant, text: string) {
  return tenant.run("write", [["INSERT INTO t (a) VALUES (?)", text]]);
}

/** Nothing of where the databases are, what they are called and how they are reached. */
function assertTellsNothing({ turso }: TursoWorld, texts: readonly string[]): void {
  const told = [...turso.names(), turso.platformToken, turso.organization, "127.0.0.1", "secret", "ey"];
  for (const text of texts) assertEquals(told.filter((word) => text.includes(word)), [], text);
}

Deno.test("a platform API that is away or answers garbage is store_unavailable, without its words", async () => {
  await withTurso(async (world) => {
    const answers: readonly [() => Response | Promise<Response>, calls: number][] = [
      [() => new Response("<html>secret gateway</html>", { status: 500 }), 4],
      [() => new Response("secret", { status: 200 }), 1],
      [() => Response.json({ database: { Hostname: "secret/../x?" } }), 1],
      [() => Response.json({ error: "secret token is wrong" }, { status: 401 }), 1],
      [() => Response.json({ error: "secret" }, { status: 403 }), 1],
      [() => Response.json({ error: "secret" }, { status: 429, headers: { "retry-after": "3600" } }), 1],
      [() => Response.redirect("http://127.0.0.1:1/secret"), 4],
    ];
    for (const [answer, calls] of answers) {
      const lines: string[] = [];
      const store = world.store({
        log: (level, event, fields) => lines.push(JSON.stringify({ level, event, fields })),
      });
      world.turso.setFault(answer);
      const before = world.turso.calls.length;
      const error = await failureOf(() => store.ready());
      assertEquals([error.code, world.turso.calls.length - before], ["store_unavailable", calls]);
      assertTellsNothing(world, [error.message, ...lines]);
      world.turso.setFault(null);
      await store.ready();
    }
    const away = await failureOf(() => world.store({ apiUrl: "http://127.0.0.1:1" }).ready());
    assertEquals(away.code, "store_unavailable");
  });
});

Deno.test("databases that are in use go on while the platform API is away", async () => {
  await withTurso(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    await insert(tenant, "before");
    world.turso.setFault(() => new Response("away", { status: 503 }));
    assertEquals((await insert(tenant, "meanwhile")).ok, true);
    assertEquals(await tenant.rows("SELECT a FROM t"), [["before"], ["meanwhile"]]);
    world.turso.setFault(null);
  });
});

Deno.test("a platform API that asks for a pause gets it, and one that stumbles is asked again", async () => {
  await withTurso(async (world) => {
    let stumbles = 2;
    world.turso.setFault(() => {
      stumbles--;
      if (stumbles === 1) {
        return Response.json({ error: "slow down" }, { status: 429, headers: { "retry-after": "1" } });
      }
      return stumbles === 0 ? new Response("", { status: 502 }) : null;
    });
    const tenant = await Tenant.create(world.store(), [T]);
    assertEquals((await insert(tenant, "x")).ok, true);
  });
});

Deno.test("a slow platform API is no timeout of the statement that waits for it", async () => {
  await withTurso(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    world.turso.setFault(async (_, path) => {
      if (path.endsWith("/auth/tokens")) await new Promise((resolve) => setTimeout(resolve, 600));
      return null;
    });
    const database = world.store({ queryTimeoutMs: 300 }).open({
      databaseId: tenant.id,
      namespaceId: "ns_1",
    });
    const error = await failureOf(() => ask(database, "write", "INSERT INTO t (a) VALUES ('never')"));
    assertEquals(error.code, "store_unavailable");
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
    world.turso.setFault(null);
  });
});

Deno.test("a database is made once although the answer to its making was lost", async () => {
  await withTurso(async (world) => {
    let lost = 0;
    const fetch = standBetween(async ({ url, sql }, go) => {
      const answer = await go();
      if (!url.endsWith("/databases") || !/"name":"(db|copy)-/.test(sql) || lost++ % 2 > 0) return answer;
      await answer.body?.cancel();
      throw new TypeError("connection closed before message completed");
    });
    const tenant = await Tenant.create(world.store({ fetch }), [T]);
    await insert(tenant, "x");
    await tenant.database.takeSnapshot("mine");
    await tenant.run("write", [["DELETE FROM t WHERE true"]]);
    await tenant.database.restore("mine", { undoLabel: "undo" });
    assertEquals([await tenant.rows("SELECT a FROM t"), lost], [[["x"]], 6]);
    // The catalogue, what was, its copy, and what is.
    assertEquals(world.turso.names().length, 4);
  });
});

Deno.test("a new database that does not answer at once is waited for", async () => {
  await withTurso(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    assertEquals((await insert(tenant, "x")).ok, true);
  }, { refusedFirst: 4 });
});

Deno.test("a new database that the platform API itself does not know at once is waited for", async () => {
  await withTurso(async (world) => {
    const unknown = new Map<string, number>();
    world.turso.setFault((method, path) => {
      const times = unknown.get(path) ?? 0;
      if (!path.endsWith("/auth/tokens") || times === 3) return null;
      unknown.set(path, times + 1);
      return Response.json({ error: `${method}: record not found` }, { status: 404 });
    });
    const tenant = await Tenant.create(world.store(), [T]);
    assertEquals((await insert(tenant, "x")).ok, true);
    await tenant.database.takeSnapshot("mine");
    await tenant.database.restore("mine", { undoLabel: "undo" });
    assertEquals(await tenant.rows("SELECT a FROM t"), [["x"]]);
    // The catalogue, the database, its copy, and what it is now.
    assertEquals([...unknown.values()], [3, 3, 3, 3]);
  });
});

Deno.test("tokens that end in the middle of a transaction are replaced, and it runs once", async () => {
  await withTurso(async (world) => {
    let ended = 0;
    const fetch = standBetween(({ sql }, go) => {
      if (sql.includes('"COMMIT"') && sql.includes("_service_meta_audit") && ended++ === 0) {
        world.turso.revokeTokens();
      }
      return go();
    });
    const tenant = await Tenant.create(world.store({ fetch }), []);
    ended = 0;
    assertEquals((await tenant.run("schema", [[T]])).ok, true);
    assert(ended > 1, "the refused request was not sent again");
    await insert(tenant, "x");
    world.turso.revokeTokens();
    assertEquals(await tenant.rows("SELECT a FROM t"), [["x"]]);
    assertEquals(await tenant.rows("SELECT count(*) FROM _service_meta_audit"), [[2]]);
  });
});

Deno.test("a token is used until shortly before its end, and then the next one", async () => {
  await withTurso(async (world) => {
    const clock = new TurnableClock();
    const tenant = await Tenant.create(world.store({ clock }), [T]);
    const minted = async (minutes: number) => {
      clock.turn(minutes * 60_000);
      const before = world.turso.calls.length;
      // Without a log row, which a request of its own would write.
      assertEquals(await tenant.rows("SELECT count(*) FROM t", [], { log: null }), [[0]]);
      return world.turso.calls.slice(before).filter((call) =>
        /^(?!.*cubby-catalog).*\/auth\/tokens$/.test(call)
      ).length;
    };
    assertEquals([await minted(0), await minted(19), await minted(2), await minted(0)], [0, 0, 1, 0]);
  });
});

Deno.test("tokens that end earlier than was asked for are replaced", async () => {
  await withTurso(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    for (let round = 0; round < 2; round++) {
      assertEquals((await insert(tenant, "x")).ok, true);
      await new Promise((resolve) => setTimeout(resolve, 3100));
    }
    assertEquals(await tenant.rows("SELECT a FROM t"), [["x"], ["x"]]);
  }, { tokenSeconds: 3 });
});

Deno.test("processes that start at the same time make one catalogue", async () => {
  await withTurso(async (world) => {
    await Promise.all(Array.from({ length: 5 }, () => world.store().ready()));
    assertEquals(world.turso.names(), ["cubby-catalog"]);
  });
});

Deno.test("many calls whose token has ended share the next one", async () => {
  await withTurso(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    // Without log rows, which a request of its own would write.
    const count = () => tenant.rows("SELECT count(*) FROM t", [], { log: null });
    await count();
    world.turso.revokeTokens();
    const before = world.turso.calls.length;
    await Promise.all(Array.from({ length: 30 }, count));
    // The catalogue's token has ended as well.
    const made = world.turso.calls.slice(before).filter((call) => !call.includes("cubby-catalog"));
    // A call to the API whose answer is lost is made once more.
    assertEquals([made.length === 1 || made.length === 2, new Set(made).size], [true, 1]);
    assert(made[0]?.endsWith("/auth/tokens"), made[0]);
  });
});

Deno.test("reads bear a token with which nothing can be written, and no token opens another database", async () => {
  await withTurso(async (world) => {
    const seen: { url: string; bearer: string; sql: string }[] = [];
    const store = world.store({
      fetch: (url, init) => {
        const bearer = new Headers(init.headers).get("authorization") ?? "";
        seen.push({ url, bearer, sql: typeof init.body === "string" ? init.body : "" });
        return fetch(url, init);
      },
    });
    const tenant = await Tenant.create(store, [T]);
    await insert(tenant, "x");
    const other = await Tenant.create(store, [T]);
    assertEquals(await other.rows("SELECT count(*) FROM t"), [[0]]);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[1]]);
    const read = seen.at(-1);
    const theirs = seen.findLast(({ url, sql }) => url !== read?.url && sql.includes("FROM t"));
    assert(read && theirs && read.sql.includes("FROM t"));
    const send = async (url: string, bearer: string) => {
      const statement = { type: "execute", stmt: { sql: "DELETE FROM t" } };
      const body = JSON.stringify({ baton: null, requests: [statement, { type: "close" }] });
      const response = await fetch(url, { method: "POST", headers: { authorization: bearer }, body });
      return { status: response.status, text: await response.text() };
    };
    const refused = await send(read.url, read.bearer);
    assert(refused.status === 403 || refused.text.includes('"type":"error"'), refused.text);
    assertEquals((await send(theirs.url, read.bearer)).status, 401);
    assertEquals((await send(read.url, `Bearer ${world.turso.platformToken}`)).status, 401);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[1]]);
  });
});

Deno.test("a plan that is used up is said clearly, for reads, writes and new databases, until it is not", async () => {
  await withTurso(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    await insert(tenant, "before");
    await world.turso.blockOrganization({ reads: false, writes: true });
    const written = await failureOf(() => insert(tenant, "never"));
    assertEquals([written.code, written.status], ["store_over_quota", 503]);
    assertTellsNothing(world, [written.message]);
    assertEquals(await tenant.rows("SELECT a FROM t"), [["before"]]);
    const configured = world.turso.calls.filter((call) => call.startsWith("PATCH"));
    assertEquals((await failureOf(() => insert(tenant, "never"))).code, "store_over_quota");
    assertEquals(world.turso.calls.filter((call) => call.startsWith("PATCH")), configured);
    await world.turso.blockOrganization({ reads: true, writes: true });
    for (const work of [() => tenant.rows("SELECT a FROM t"), () => Tenant.create(world.store())]) {
      assertEquals((await failureOf(work)).code, "store_over_quota");
    }
    await world.turso.blockOrganization({ reads: false, writes: false });
    assertEquals((await insert(tenant, "after")).ok, true);
    assertEquals(await tenant.rows("SELECT a FROM t"), [["before"], ["after"]]);
    world.turso.setFault((method) =>
      method === "POST" ? Response.json({ error: "pay" }, { status: 402 }) : null
    );
    assertEquals((await failureOf(() => Tenant.create(world.store()))).code, "store_over_quota");
  });
});

Deno.test("restores and copies are new databases, seen by every process, and dropping leaves none behind", async () => {
  await withTurso(async (world) => {
    const tenant = await Tenant.create(world.store(), [T]);
    const elsewhere = world.store().open({ databaseId: tenant.id, namespaceId: "ns_1" });
    const there = async () => rowsOf(await ask(elsewhere, "read", "SELECT a FROM t"));
    const here = async () => rowsOf(await ask(tenant.database, "read", "SELECT a FROM t"));
    await insert(tenant, "before");
    assertEquals(await there(), [["before"]]);
    await tenant.database.takeSnapshot("mine");
    await insert(tenant, "after");
    await tenant.database.restore("mine", { undoLabel: "undo" });
    assertEquals(await there(), [["before"]]);
    await ask(elsewhere, "write", "INSERT INTO t (a) VALUES ('more')");
    assertEquals(await here(), [["before"], ["more"]]);
    await elsewhere.restore("undo", { undoLabel: "undo-2" });
    assertEquals(await here(), [["before"], ["after"]]);
    assertEquals(world.turso.names().filter((name) => name.length > 32), []);
    const store = world.store();
    await store.drop(tenant.id);
    await store.sweep();
    assertEquals(world.turso.names(), ["cubby-catalog"]);
    assertEquals((await failureOf(there)).code, "store_unavailable");
  });
});

Deno.test("no call to the platform API leaves this process twice by itself when a connection closes unanswered", async () => {
  await withTurso(async (world) => {
    await using relay = openRelay(world.turso.apiUrl);
    const arrived: string[] = [];
    let cut = false;
    relay.between = async ({ route, body }, go) => {
      arrived.push(`${route} ${body}`);
      const answer = await go();
      if (!cut) return answer;
      cut = false;
      return null;
    };
    const tenant = await Tenant.create(world.store({ apiUrl: relay.url }), [T]);
    await insert(tenant, "before");
    for (const label of ["one", "two"]) {
      arrived.length = 0;
      cut = true;
      assertEquals((await tenant.database.takeSnapshot(label)).label, label);
      // The one that was lost, and its repetition by the store itself.
      const [lost = ""] = arrived;
      assertEquals(arrived.filter((one) => one === lost).length, 2, lost);
    }
    assertEquals((await tenant.database.snapshots()).map(({ label }) => label), ["two", "one"]);
  });
});
