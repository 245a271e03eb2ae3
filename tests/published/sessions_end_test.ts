// Sessions that end before their time, go on behind it, and what a new password does to them.
import { assert, assertEquals } from "@std/assert";
import { decodeJwt, SignJWT } from "jose";
import { appDeps } from "../../routes/http/app_deps.ts";
import { createApp } from "../../routes/app.ts";
import { keys } from "../../lib/store/keys.ts";
import { secondApp } from "../replay/second_app.ts";
import { DAY_MS, HOUR_MS } from "../../lib/core/clock.ts";
import { pause } from "../../lib/core/pause.ts";
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";
import { SessionEnds } from "../../lib/control/session_ends.ts";
import { oneStore } from "../testing/cases.ts";
import { begunFrames, untilEngineRuns } from "../testing/engine_children.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import {
  accountSpecs,
  type AccountWorld,
  accountWorld,
  outcome,
  PASSWORD,
  tokenOf,
} from "./account_world.ts";

const { run, test } = oneStore();
Deno.test("sessions that end and go on", run);

const DAY_SEC = DAY_MS / 1000;
const slugs = ["signup", "login", "password", "refresh", "logout", "me"];
const ada = { email: "ada@shop.example", password: PASSWORD };
const login = async (world: AccountWorld, body = ada) => tokenOf(await world.post("login", body));
const change = (world: AccountWorld, token: string, password: string, new_password: string) =>
  world.post("password", { password, new_password }, { token });

test("a log-out ends this session and no other, one of all ends every one, and no later one", async () => {
  await using world = await accountWorld({ slugs });
  const [first, bob] = [await world.join(ada.email), await world.join("bob@shop.example")];
  const [second, third] = [await login(world), await login(world)];
  const out = await world.post("logout", {}, { token: first });
  assertEquals([out.status, out.text, out.headers.get("cache-control")], [200, '{"done":true}', "no-store"]);
  const live = async () => await Promise.all([first, second, third, bob].map(world.me));
  assertEquals(await live(), [401, 200, 200, 200]);
  assertEquals(outcome(await world.post("logout", {}, { token: first })), [401, "session_invalid"]);
  assertEquals((await world.post("logout", { all: true }, { token: second })).status, 200);
  assertEquals(await live(), [401, 401, 401, 200]);
  // Within the same second: sessions are told by what they came after, not by whole seconds.
  assertEquals(await world.me(await login(world)), 200);
});

test("a log-out by a token that ends sooner ends those that it was refreshed to, for as long as they live", async () => {
  const clock = new TurnableClock();
  await using world = await accountWorld({ slugs, clock });
  const HOUR_MS = 3_600_000;
  const first = await world.join(ada.email);
  clock.turn(12 * HOUR_MS);
  const second = tokenOf(await world.post("refresh", {}, { token: first }));
  assertEquals((await world.post("logout", {}, { token: first })).status, 200);
  assertEquals(await world.me(second), 401);
  clock.turn(13 * HOUR_MS);
  // The next one of that user is noted, and what is over is forgotten with it.
  const other = await login(world);
  assertEquals((await world.post("logout", {}, { token: other })).status, 200);
  assertEquals(await world.me(second), 401);
});

test("sessions that the owner's server has minted log out too, each by itself", async () => {
  await using world = await accountWorld({ slugs });
  const mint = async (expiresIn: number) => {
    const body = { namespaceSlug: "acme", databaseSlug: "main", userId: "1", expiresIn };
    const { text } = await world.app.request("POST", "/v1/sessions", { token: world.acme.token, body });
    return JSON.parse(text).data.token;
  };
  const [one, two] = [await mint(600), await mint(601)];
  const own = await world.join(ada.email);
  assertEquals((await world.post("logout", {}, { token: one })).status, 200);
  assertEquals(await Promise.all([one, two, own].map(world.me)), [401, 200, 200]);
  assertEquals(outcome(await world.post("refresh", {}, { token: two })), [401, "session_invalid"]);
  assertEquals((await world.post("logout", { all: true }, { token: two })).status, 200);
  assertEquals(await Promise.all([two, own].map(world.me)), [401, 200]);
});

test("a log-out counts on another instance as soon as its cache is over, and at once for what it has not seen", async () => {
  const clock = new TurnableClock();
  await using world = await accountWorld({ slugs, clock });
  const [seen, unseen] = [await world.join(ada.email), await world.join("bob@shop.example")];
  const { deps } = world.app;
  const other = appDeps({ ...deps, clock });
  const app = createApp(other);
  const there = async (token: string) => (await callApi(app, "GET", "/p/acme/main/me", { token })).status;
  assertEquals(await there(seen), 200);
  await world.post("logout", { all: true }, { token: seen });
  await world.post("logout", {}, { token: unseen });
  assertEquals(await there(unseen), 401);
  clock.turn(5_000);
  assertEquals(await there(seen), 401);
  await other.query.meter.close();
});

test("what an instance with a clock ahead has issued ends by revoke_all on another, and is not refreshed from then on", async () => {
  const ahead = new TurnableClock();
  ahead.turn(90_000);
  await using world = await accountWorld({ slugs });
  await using other = secondApp(world.app, ahead);
  await world.join(ada.email);
  const ask = (method: string, slug: string, options: ApiRequest) =>
    other.request(method, `/p/acme/main/${slug}`, options);
  const token = tokenOf(await ask("POST", "login", { body: ada }));
  assertEquals((await ask("GET", "me", { token })).status, 200);
  const ended = await world.app.request(
    "POST",
    "/api/namespaces/acme/databases/main/sessions/revoke_all",
    { token: world.acme.token },
  );
  assertEquals(ended.status, 200, ended.text);
  // The other instance may take it for some seconds more.
  assertEquals(outcome(await ask("POST", "refresh", { body: {}, token })), [401, "session_invalid"]);
  ahead.turn(5_000);
  assertEquals([(await ask("GET", "me", { token })).status, await world.me(token)], [401, 401]);
  const again = tokenOf(await ask("POST", "login", { body: ada }));
  assertEquals([(await ask("GET", "me", { token: again })).status, await world.me(again)], [200, 200]);
});

test("a refresh takes a session further, up to its total, and not behind a log-out of any part of it or the end of its user", async () => {
  const clock = new TurnableClock();
  await using world = await accountWorld({ slugs, clock });
  const spec = accountSpecs["refresh"];
  const authConfig = { ...Object(spec?.["authConfig"]), sessionTtlSec: 3600, sessionTotalSec: 100_000 };
  const put = await world.manage("PUT", "/refresh", {
    ...spec,
    slug: "refresh",
    name: "refresh",
    authConfig,
  });
  assertEquals(put.status, 200, put.text);
  const first = await world.join(ada.email);
  clock.turn(80_000_000);
  const second = tokenOf(await world.post("refresh", {}, { token: first }));
  const [a, b] = [decodeJwt(first), decodeJwt(second)];
  assertEquals([b["auth_time"], b["sid"], b.sub, b["email"]], [a.iat, a["sid"], a.sub, a["email"]]);
  assertEquals((b.exp ?? 0) - (b.iat ?? 0), 3600);
  let last = second;
  for (let round = 0; round < 6; round++) {
    clock.turn(3_000_000);
    last = tokenOf(await world.post("refresh", {}, { token: last }));
  }
  assertEquals((decodeJwt(last).exp ?? 0) - (a.iat ?? 0), 100_000);
  clock.turn(1_800_000);
  assertEquals(await world.me(last), 200);
  assertEquals((await world.post("logout", {}, { token: last })).status, 200);
  assertEquals(outcome(await world.post("refresh", {}, { token: last })), [401, "session_invalid"]);
  const again = await login(world);
  const refreshed = tokenOf(await world.post("refresh", {}, { token: again }));
  await world.post("logout", {}, { token: again });
  assertEquals([await world.me(again), await world.me(refreshed)], [401, 401]);
  assertEquals(outcome(await world.post("refresh", {}, { token: refreshed })), [401, "session_invalid"]);
  const orphaned = await login(world);
  const removed = await world.acme.query("DELETE FROM users WHERE email = ?", [ada.email]);
  assertEquals(removed.status, 200, removed.text);
  assertEquals(outcome(await world.post("refresh", {}, { token: orphaned })), [401, "session_invalid"]);
});

test("without a word of the specification a session lives for a day, and goes on for thirty at most", async () => {
  const clock = new TurnableClock();
  await using world = await accountWorld({ slugs, clock });
  const first = await world.join(ada.email);
  const { iat = 0, exp } = decodeJwt(first);
  assertEquals(exp, iat + DAY_SEC);
  let last = first;
  for (let round = 0; round < 31; round++) {
    clock.turn(23 * HOUR_MS);
    last = tokenOf(await world.post("refresh", {}, { token: last }));
  }
  assertEquals(decodeJwt(last).exp, iat + 30 * DAY_SEC);
  clock.turn(8 * HOUR_MS);
  assertEquals(outcome(await world.post("refresh", {}, { token: last })), [401, "session_invalid"]);
});

test("of many log-outs at once, on two instances, each ends its session", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = new TurnableClock();
  const instances = [new SessionEnds(kv, clock), new SessionEnds(kv, clock)];
  const owner = { databaseId: "db_1", table: "users", userId: "1" };
  const ids = Array.from({ length: 20 }, (_, at) => `session ${at}`);
  const untilMs = clock.now() + 60_000;
  await Promise.all(ids.map((sessionId, at) => instances[at % 2]?.end(owner, { sessionId, untilMs })));
  const third = new SessionEnds(kv, clock);
  const ended = await Promise.all(ids.map((sessionId) => third.hasEnded(owner, { sessionId, epochMs: 0 })));
  assertEquals(ended, ids.map(() => true));
});

test("a new password ends every other session with its commit, and answers one that lives", async () => {
  await using world = await accountWorld({ slugs });
  const [old, other] = [await world.join(ada.email), await login(world)];
  for (
    const [password, next, code] of [
      ["wrong horse", "battery staple", "login_failed"],
      [PASSWORD, "short", "validation_failed"],
    ] as const
  ) {
    assertEquals((await change(world, old, password, next)).body.code, code);
  }
  const fresh = tokenOf(await change(world, old, PASSWORD, "battery staple"));
  assertEquals(await Promise.all([old, other, fresh].map(world.me)), [401, 401, 200]);
  assertEquals(outcome(await world.post("login", ada)), [401, "login_failed"]);
  assertEquals(await world.me(await login(world, { ...ada, password: "battery staple" })), 200);
  assertEquals(outcome(await world.post("refresh", {}, { token: other })), [401, "session_invalid"]);
  const log = rowsOf(await world.acme.query("SELECT sql FROM _service_meta_query_log")).join();
  assert(!log.includes("staple") && !log.includes("pbkdf2"));
});

test("a service that dies between the new password and the end of sessions leaves none alive", async () => {
  await using world = await accountWorld({ slugs });
  const [old, other] = [await world.join(ada.email), await login(world)];
  const { sessionEnds } = world.app.deps.control;
  sessionEnds.endAll = () => Promise.reject(new Error("the process ends here"));
  assertEquals((await change(world, old, PASSWORD, "battery staple")).status, 500);
  assertEquals(await Promise.all([old, other].map(world.me)), [401, 401]);
  assertEquals(await world.me(await login(world, { ...ada, password: "battery staple" })), 200);
});

test("of many changes with one old password one counts", async () => {
  await using world = await accountWorld({ slugs });
  const token = await world.join(ada.email);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => change(world, token, PASSWORD, `battery staple ${at}`)),
  );
  assertEquals(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(401)]);
  const won = answers.findIndex(({ status }) => status === 200);
  assertEquals(await world.me(await login(world, { ...ada, password: `battery staple ${won}` })), 200);
});

test("a session of another users table changes nobody's password here", async () => {
  const setup = ["users", "staff"].map((name) =>
    `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, email TEXT UNIQUE NOT NULL, password_hash TEXT NOT NULL, verified_at)`
  );
  await using world = await accountWorld({ slugs, setup });
  await world.put({
    ...{ slug: "hire", kind: "auth_signup", method: "POST", output: "session" },
    sql: "INSERT INTO staff (email, password_hash) VALUES (?, ?) RETURNING id",
    input: [{ name: "email", type: "email", required: true }, {
      name: "password",
      type: "text",
      required: true,
    }],
    authConfig: { usersTable: "staff", passwordColumn: "password_hash" },
  });
  await world.join(ada.email);
  const staff = tokenOf(await world.post("hire", ada));
  assertEquals(decodeJwt(staff).sub, "1");
  assertEquals(outcome(await change(world, staff, PASSWORD, "battery staple")), [401, "session_invalid"]);
  assertEquals(outcome(await world.post("refresh", {}, { token: staff })), [401, "session_invalid"]);
  assertEquals((await world.post("login", ada)).status, 200);
});

test("sessions that an older version has signed live on, log out and end with the password", async () => {
  await using world = await accountWorld({ slugs });
  const token = await world.join(ada.email);
  const { sid: _, pv: __, ...claims } = decodeJwt(token);
  const namespace = await world.app.deps.control.namespaces.bySlug("acme");
  const { value } = await world.app.deps.kv.get<{ sessionSigningKeyB64: string }>(
    keys.database(namespace?.id ?? "", world.acme.database.id),
  );
  const key = Uint8Array.fromBase64(value?.sessionSigningKeyB64 ?? "");
  const sign = (more: object) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(key);
  const [one, two] = [await sign({}), await sign({ exp: (claims.exp ?? 0) - 1 })];
  assertEquals(await Promise.all([one, two].map(world.me)), [200, 200]);
  await world.post("logout", {}, { token: one });
  assertEquals(await Promise.all([one, two].map(world.me)), [401, 200]);
  await change(world, token, PASSWORD, "battery staple");
  assertEquals(await world.me(two), 401);
});

test("guesses at the old password are bounded as those of a log-in", async () => {
  await using world = await accountWorld({ slugs });
  const token = await world.join(ada.email);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => change(world, token, "wrong horse", "battery staple")),
  );
  assertEquals(answers.map(({ status }) => status).sort(), [...Array(10).fill(401), 429, 429]);
  assertEquals(outcome(await change(world, token, PASSWORD, "battery staple")), [429, "login_locked"]);
});

const ENDLESS: Parameters<AccountWorld["put"]>[0] = {
  ...{ slug: "endless", auth: "session", input: [{ name: "$user_id", type: "integer" }] },
  sql: "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c WHERE x <> ?",
};
const endings: Readonly<Record<string, (world: AccountWorld, token: string) => Promise<ApiAnswer> | null>> = {
  "a log-out": (world, token) => world.post("logout", {}, { token }),
  "revoke_all": ({ app, acme: { token } }) =>
    app.request("POST", "/api/namespaces/acme/databases/main/sessions/revoke_all", { token }),
  "its time": () => null,
};
for (const [what, end] of Object.entries(endings)) {
  test(`${what} ends a call that runs under the session`, async () => {
    await using world = await accountWorld({ slugs });
    await world.put(ENDLESS);
    const authConfig = { ...Object(accountSpecs["login"]?.["authConfig"]), sessionTtlSec: 3 };
    const login = { ...accountSpecs["login"], slug: "login", name: "login", authConfig };
    if (what === "its time") assertEquals((await world.manage("PUT", "/login", login)).status, 200);
    await world.join(ada.email);
    const token = tokenOf(await world.post("login", ada));
    const { dataDir } = world.app.deps.config;
    const before = await begunFrames(dataDir);
    const running = world.call("endless", { token });
    // Elsewhere nobody outside can tell.
    if (isEmbedded()) await untilEngineRuns(dataDir, () => false, before);
    else await pause(300);
    const ended = await end(world, token);
    if (ended !== null) assertEquals(ended.status, 200, ended.text);
    assertEquals(outcome(await running), [401, "session_invalid"]);
    const log = "SELECT status, error_kind FROM _service_meta_query_log WHERE token_id = 'endpoint:endless'";
    assertEquals(rowsOf(await world.acme.query(log)), [["error", "cancelled"]]);
  });
}

test("the log-out after two hundred ends all sessions of its user, so that what is kept stays small", async () => {
  await using world = await accountWorld({ slugs });
  const [kept, ended] = [await world.join(ada.email), await login(world)];
  const owner = { databaseId: world.acme.database.id, table: "users", userId: "1" };
  const untilMs = Date.now() + 60_000;
  for (let at = 0; at < 200; at++) {
    await world.app.deps.control.sessionEnds.end(owner, { sessionId: `s${at}`, untilMs });
  }
  assertEquals(await world.me(kept), 200);
  await world.post("logout", {}, { token: ended });
  assertEquals(await Promise.all([kept, ended].map(world.me)), [401, 401]);
});
