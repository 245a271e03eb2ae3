// The signing key of a database and the floor under its sessions.
import { assertEquals, assertNotEquals } from "@std/assert";
import { CACHE_AGE_MS } from "../../lib/core/limits.ts";
import { keys } from "../../lib/store/keys.ts";
import { secondApp } from "../replay/second_app.ts";
import { startApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { contentOf, databaseOf, mint, minted, REVOKE, type SessionApp, verdict } from "./session_app.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("the signing key of a database and the floor under its sessions", run);

async function keyInStore(app: SessionApp): Promise<string | undefined> {
  const { namespaceId, databaseId } = await databaseOf(app);
  const { value } = await app.deps.kv.get<{ sessionSigningKeyB64?: string }>(
    keys.database(namespaceId, databaseId),
  );
  return value?.sessionSigningKeyB64;
}

test("50 first sessions at once, over two processes, are signed with one key", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const { token } = await app.namespace();
  const database = await databaseOf(app);
  assertEquals(await keyInStore(app), undefined);
  const jwts = await Promise.all(
    Array.from({ length: 50 }, (_, n) => minted(n % 2 === 0 ? app : other, token, { userId: `u${n}` })),
  );
  for (const jwt of jwts) {
    assertEquals([await verdict(app, database, jwt), await verdict(other, database, jwt)], ["ok", "ok"]);
  }
  const key = await keyInStore(app);
  assertEquals(Uint8Array.fromBase64(key ?? "").length, 32);
  await mint(app, token);
  assertEquals(await keyInStore(app), key);
});

/** Of the right form: `{"alg":"HS256"}`, `{}` and a signature by nobody. */
const FOREIGN = "eyJhbGciOiJIUzI1NiJ9.e30.AAAA";

test("the key is made by the first session, not before, and every database has its own", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const database = await databaseOf(app);
  assertEquals(await verdict(app, database, FOREIGN), "wrong_key");
  assertEquals(await keyInStore(app), undefined);
  await tenant.createDatabase("stock");
  await minted(app, tenant.token);
  await minted(app, tenant.token, { databaseSlug: "stock" });
  const { sessionKeys } = app.deps.control;
  const [main, stock] = [
    await sessionKeys.demand(database),
    await sessionKeys.demand(await databaseOf(app, "stock")),
  ];
  assertNotEquals(main?.secret.toBase64(), stock?.secret.toBase64());
});

test("another process takes the first session at once", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const { token } = await app.namespace();
  const database = await databaseOf(other);
  assertEquals(await verdict(other, database, FOREIGN), "wrong_key");
  assertEquals(await verdict(other, database, await minted(app, token)), "ok");
});

test("renaming a database keeps its key and its floor", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const revoked = await minted(app, token);
  await app.request("POST", REVOKE, { token });
  const jwt = await minted(app, token);
  await app.request("PATCH", "/api/namespaces/acme/databases/main", { token, body: { name: "New" } });
  const database = await databaseOf(app);
  await using other = secondApp(app);
  assertEquals(
    [await verdict(other, database, jwt), await verdict(other, database, revoked)],
    ["ok", "revoked"],
  );
});

test("revoke_all refuses every session from before and none from after, also within one second", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const database = await databaseOf(app);
  for (let round = 0; round < 5; round++) {
    const before = await minted(app, token);
    const answer = await app.request("POST", REVOKE, { token });
    const after = await minted(app, token);
    assertEquals(answer.status, 200);
    const { tokensMinIat } = answer.body.data as { tokensMinIat: number };
    const issued = [before, after].map((jwt) => Number(contentOf(jwt).claims["iat"]));
    assertEquals([Number(issued[0]) < tokensMinIat, Number(issued[1]) >= tokensMinIat], [true, true]);
    assertEquals(
      [await verdict(app, database, before), await verdict(app, database, after)],
      ["revoked", "ok"],
    );
  }
});

test("however often sessions are revoked, new ones are dated now and live as long as was asked", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const database = await databaseOf(app);
  const nowSec = () => Math.floor(Date.now() / 1000);
  const answers = await Promise.all(Array.from({ length: 8 }, () => app.request("POST", REVOKE, { token })));
  const latestSec = nowSec() + 1;
  const floors = answers.map(({ body }) => Number((body.data as { tokensMinIat: number }).tokensMinIat));
  assertEquals(floors.filter((floor) => floor > latestSec), []);
  const jwt = await minted(app, token, { expiresIn: 86_400 });
  const { iat, exp } = contentOf(jwt).claims as { iat: number; exp: number };
  assertEquals([iat > nowSec(), iat >= Math.max(...floors), exp - iat], [false, true, 86_400]);
  assertEquals(await verdict(app, database, jwt), "ok");
});

test("a floor counts in another process for new sessions at once, for old ones within the cache's age", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  await using other = secondApp(app);
  const { token } = await app.namespace();
  const database = await databaseOf(app);
  const before = await minted(app, token);
  assertEquals(await verdict(other, database, before), "ok");
  await app.request("POST", REVOKE, { token });
  const after = await minted(other, token);
  assertEquals([await verdict(app, database, after), await verdict(other, database, after)], ["ok", "ok"]);
  clock.turn(CACHE_AGE_MS);
  assertEquals([await verdict(other, database, before), await verdict(other, database, after)], [
    "revoked",
    "ok",
  ]);
});

test("revoke_all ends what an instance with a clock ahead has issued, and nothing that it issues afterwards", async () => {
  const slow = new TurnableClock();
  const fast = new TurnableClock();
  fast.turn(90_000);
  await using app = await startApp({ clock: slow });
  await using ahead = secondApp(app, fast);
  const { token } = await app.namespace();
  const database = await databaseOf(app);
  const before = await minted(ahead, token);
  assertEquals([await verdict(app, database, before), await verdict(ahead, database, before)], ["ok", "ok"]);
  // Twice within a second: the floor stays, and what is issued in between ends all the same.
  const first = await app.request("POST", REVOKE, { token });
  const between = await minted(ahead, token);
  const second = await app.request("POST", REVOKE, { token });
  assertEquals([first.status, second.status], [200, 200]);
  const [after, here] = [await minted(ahead, token), await minted(app, token)];
  for (const clock of [slow, fast]) clock.turn(CACHE_AGE_MS);
  for (const instance of [app, ahead]) {
    const verdicts = [before, between, after, here].map((jwt) => verdict(instance, database, jwt));
    assertEquals(await Promise.all(verdicts), ["revoked", "revoked", "ok", "ok"]);
  }
});

test("revoke_all before the first session is fine, and touches one database only", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.createDatabase("stock");
  const stock = await databaseOf(app, "stock");
  const jwt = await minted(app, tenant.token, { databaseSlug: "stock" });
  assertEquals((await app.request("POST", REVOKE, { token: app.operatorKey })).status, 200);
  assertEquals(await verdict(app, stock, jwt), "ok");
  assertEquals(await verdict(app, await databaseOf(app), await minted(app, tenant.token)), "ok");
  const nowhere = await app.request("POST", REVOKE.replace("main", "nowhere"), { token: tenant.token });
  assertEquals([nowhere.status, nowhere.body.code], [404, "database_not_found"]);
});

test("sessions die with their database and live again when it is brought back", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const jwt = await minted(app, token);
  const database = await databaseOf(app);
  const path = "/api/namespaces/acme/databases";
  await app.request("DELETE", `${path}/main`, { token, body: { confirm: "main" } });
  await using other = secondApp(app);
  assertEquals(await verdict(other, database, jwt), "wrong_key");
  assertEquals((await mint(app, token)).body.code, "database_not_found");
  await app.request("POST", `${path}/restore`, { token, body: { slug: "main" } });
  assertEquals(await verdict(other, database, jwt), "ok");
});
