// Signup, login and the endpoints that ask for a session.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { pbkdf2Sync } from "node:crypto";
import { decodeJwt, SignJWT } from "jose";
import type { EndpointSpec, FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { PasswordHasher } from "../../lib/access/password_hash.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { iterationsOf } from "../testing/iterations_of.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { issuePaths, type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test, testOneProcess } = oneStore();
Deno.test("sign-up, log-in and sessions", run);

const users = [
  "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE NOT NULL, password_hash TEXT NOT NULL)",
];
const input: FieldSpec[] = [
  { name: "email", type: "email", required: true },
  { name: "password", type: "text", required: true },
];
const authConfig = { usersTable: "users", emailColumn: "email", passwordColumn: "password_hash" } as const;

async function withUsers(world: PublishedApp): Promise<PublishedApp> {
  const auth: Pick<EndpointSpec, "method" | "output" | "input"> = {
    method: "POST",
    output: "session",
    input,
  };
  await world.put({
    slug: "signup",
    kind: "auth_signup",
    sql: "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id",
    authConfig: { ...authConfig, sessionTtlSec: 3600 },
    ...auth,
  });
  await world.put({
    slug: "login",
    kind: "auth_login",
    sql: "SELECT id, password_hash FROM users WHERE email = ?",
    authConfig,
    ...auth,
  });
  await world.put({
    slug: "mine",
    auth: "session",
    sql: "SELECT ?, ?, typeof(?), id FROM item WHERE owner = ?",
    input: [
      { name: "$user_id", type: "integer" },
      { name: "$user_email", type: "text" },
      { name: "$session_iat", type: "integer" },
      { name: "owner", type: "integer", default: 7 },
    ],
  });
  return world;
}

const person = { email: "ada@shop.example", password: "correct horse" };
const tokenOf = (text: string): string => JSON.parse(text).token;

test("signup stores the hash in the format of the specification and answers a session", async () => {
  await using world = await withUsers(await publishedApp({ setup: users, slowPasswords: true }));
  const { status, text, headers } = await world.call("signup", { body: person });
  assertEquals(status, 200, text);
  const answer = JSON.parse(text);
  assertEquals(Object.keys(answer), ["token", "expiresAt"]);
  assertEquals(headers.get("cache-control"), "no-store");
  const claims = decodeJwt(answer.token);
  assertEquals([claims.sub, claims["email"], claims.aud], ["1", person.email, world.acme.database.id]);
  assertEquals((claims.exp ?? 0) - (claims.iat ?? 0), 3600);
  assertEquals(Date.parse(answer.expiresAt), (claims.exp ?? 0) * 1000);
  const [[hash]] = rowsOf(await world.acme.query("SELECT password_hash FROM users")) as [[string]];
  assertMatch(hash, /^pbkdf2_sha256\$210000\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/);
  const log = rowsOf(await world.acme.query("SELECT sql FROM _service_meta_query_log")).join();
  assert(!log.includes("correct horse") && !log.includes("pbkdf2"));
});

test("a second signup with the same address is 409, of many at once one wins", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  const answers = await Promise.all(Array.from({ length: 6 }, () => world.call("signup", { body: person })));
  assertEquals(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
  const again = await world.call("signup", { body: person });
  assertEquals([again.status, again.body.code], [409, "account_exists"]);
});

test("login takes the password however its characters are composed, and no other", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  await world.call("signup", { body: { email: "z@shop.example", password: "Zo\u00eb\u2163-caf\u00e9" } });
  const login = (password: string) => world.call("login", { body: { email: "z@shop.example", password } });
  const good = await login("Zoe\u0308IV-cafe\u0301");
  assertEquals(good.status, 200, good.text);
  assertEquals(decodeJwt(tokenOf(good.text)).sub, "1");
  for (
    const password of ["zo\u00eb\u2163-caf\u00e9", "Zo\u00eb\u2163-caf\u00e9 ", "", "short", "x".repeat(2000)]
  ) {
    const bad = await login(password);
    assertEquals([bad.status, bad.body.code], [401, "login_failed"], password.slice(0, 20));
    assertEquals(bad.headers.get("www-authenticate"), "Bearer");
  }
});

test("passwords have 8 to 1024 code points and are never cut", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  const signup = (email: string, password: string) => world.call("signup", { body: { email, password } });
  for (const password of ["1234567", "😀".repeat(7), "x".repeat(1025), "x".repeat(900_000)]) {
    assertEquals(issuePaths(await signup("a@b.c", password)), ["password"]);
  }
  const long = "😀".repeat(1024);
  assertEquals((await signup("long@b.c", long)).status, 200);
  const login = (password: string) => world.call("login", { body: { email: "long@b.c", password } });
  assertEquals((await login(long)).status, 200);
  assertEquals((await login(long.slice(0, -2))).status, 401);
});

test("a sign-up is told of its password together with everything else that is wrong, and never the password", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  const bad = await world.call("signup", { body: { email: "nobody", password: "1234567", name: "Ada" } });
  assertEquals([bad.status, issuePaths(bad)], [400, ["email", "name", "password"]]);
  assert(!bad.text.includes("1234567"));
  const alone = await world.call("signup", { body: { password: "x".repeat(1025) } });
  assertEquals(issuePaths(alone), ["email", "password"]);
  // A log-in takes every length: what is wrong is its address alone.
  assertEquals(issuePaths(await world.call("login", { body: { email: "nobody", password: "1" } })), [
    "email",
  ]);
});

testOneProcess("an unknown user and a wrong password get the same answer for the same work", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  await world.call("signup", { body: person });
  const guess = async (email: string) => {
    let answer = "";
    const iterations = await iterationsOf(async () => {
      const { status, text, headers } = await world.call("login", {
        body: { email, password: "wrong horse" },
      });
      answer = JSON.stringify([status, text, [...headers.keys()].sort()]);
    });
    return { iterations, answer };
  };
  const known = await guess(person.email);
  assertEquals(await guess("nobody@shop.example"), known);
  assertMatch(known.answer, /^\[401,/);
  assert(known.iterations > 0);
});

test("an imported password logs in whatever its length: the bounds are those of a sign-up", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  for (const password of ["x", "1234567", "y".repeat(2000)]) {
    const salt = new Uint8Array(16);
    const hash = Uint8Array.from(pbkdf2Sync(password, salt, 1000, 32, "sha256")).toBase64();
    const email = `old${password.length}@shop.example`;
    const row = [email, `pbkdf2_sha256$1000$${salt.toBase64()}$${hash}`];
    await world.acme.query("INSERT INTO users (email, password_hash) VALUES (?, ?)", row);
    assertEquals((await world.call("login", { body: { email, password } })).status, 200, email);
    const wrong = await world.call("login", { body: { email, password: `${password}!` } });
    assertEquals([wrong.status, wrong.body.code], [401, "login_failed"]);
    const body = { email: `new${email}`, password };
    assertEquals(issuePaths(await world.call("signup", { body })), ["password"]);
  }
});

test("after ten failures an account is locked for the hour, the right password too", async () => {
  const clock = new TurnableClock();
  await using world = await withUsers(await publishedApp({ setup: users, clock }));
  await world.call("signup", { body: person });
  const login = (password: string, email = person.email) =>
    world.call("login", { body: { email, password } });
  const answers = await Promise.all(Array.from({ length: 14 }, () => login("wrong horse")));
  assertEquals(answers.filter(({ status }) => status === 401).length, 10);
  const locked = await login(person.password);
  assertEquals([locked.status, locked.body.code], [429, "login_locked"]);
  assert(Number(locked.headers.get("retry-after")) > 3500);
  assertEquals((await login("wrong horse", person.email.toUpperCase())).status, 429);
  assertEquals((await login("wrong horse", "other@shop.example")).status, 401);
  clock.turn(3_600_000);
  assertEquals((await login(person.password)).status, 200);
});

test("guesses count for the account, however its address is spelled", async () => {
  const rtrim =
    "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE COLLATE RTRIM, password_hash TEXT)";
  await using world = await withUsers(await publishedApp({ setup: [rtrim] }));
  const login = { kind: "auth_login", method: "POST", output: "session", authConfig } as const;
  const typed: FieldSpec[] = [{ name: "email", type: "text", required: true }, ...input.slice(1)];
  const spellings: readonly (readonly [where: string, spell: (email: string, at: number) => string])[] = [
    ["email = ?", (email, at) => email + " ".repeat(at)],
    ["email = trim(?)", (email, at) => " ".repeat(at) + email],
    ["email = replace(?, '+', '')", (email, at) => "+".repeat(at) + email],
    ["email LIKE ?", (email, at) => `%${"%".repeat(at)}${email}`],
  ];
  for (const [at, [where, spell]] of spellings.entries()) {
    const email = `user${at}@shop.example`;
    await world.call("signup", { body: { ...person, email } });
    await world.put({
      ...{ ...login, slug: "typed", input: typed },
      sql: `SELECT id, password_hash FROM users WHERE ${where}`,
    });
    const guess = (password: string, nth: number) =>
      world.call("typed", { body: { email: spell(email, nth), password } });
    const statuses = await Promise.all(Array.from({ length: 14 }, (_, nth) => guess("wrong horse", nth)))
      .then((answers) => answers.map(({ status }) => status).sort());
    assertEquals(statuses, [...Array(10).fill(401), ...Array(4).fill(429)], where);
    assertEquals((await guess(person.password, 20)).body.code, "login_locked", where);
  }
});

test("a guess at nobody's account asks the control plane as often as one at somebody's", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  await world.call("signup", { body: person });
  const { kv } = world.app.deps;
  const { get, atomic } = kv;
  let asked: string[] = [];
  kv.get = <Value>(key: Deno.KvKey) => {
    asked.push(`get ${String(key[0])}`);
    return (get<Value>).call(kv, key);
  };
  kv.atomic = () => {
    asked.push("atomic");
    return atomic.call(kv);
  };
  const guess = async (email: string) => {
    asked = [];
    const { status } = await world.call("login", { body: { email, password: "wrong horse" } });
    return [String(status), ...asked.filter((what) => /login_failures|atomic/.test(what))];
  };
  const known = await guess(person.email);
  // Of the address as typed, and of the user whom it means: each from everywhere and from there.
  assertEquals(known.filter((what) => what.includes("login_failures")).length, 6);
  assertEquals(await guess("nobody@shop.example"), known);
});

test("hashes that run or wait are bounded, in all and of one owner", async () => {
  const bounds = { running: 1, admitted: 4, admittedOfOwner: 2 };
  const hasher = new PasswordHasher(bounds, 1_000); // however long one takes, the others wait for it
  const outcomes = await Promise.allSettled(
    ["a", "a", "a", "b", "b", "c"].map((owner) => hasher.verify(owner, "password", null)),
  );
  assertEquals(outcomes.map(({ status }) => status), [
    ...["fulfilled", "fulfilled", "rejected"],
    ...["fulfilled", "fulfilled", "rejected"],
  ]);
  assertEquals(await hasher.verify("a", "password", await hasher.hash("a", "password")), true);
  assertEquals(await hasher.verify("a", null, await hasher.hash("a", "")), false);
});

test("stored hashes of other forms let nobody in", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  const forms = [
    "",
    "plain",
    "pbkdf2_sha256$1$$",
    "pbkdf2_sha256$99999999$AAAA$AAAA",
    "pbkdf2_sha256$0$AAAA$AAAA",
  ];
  for (const [index, form] of forms.entries()) {
    await world.acme.query("INSERT INTO users (email, password_hash) VALUES (?, ?)", [`u${index}@b.c`, form]);
    const answer = await world.call("login", { body: { email: `u${index}@b.c`, password: "" } });
    assertEquals(answer.body.code, "login_failed", form);
  }
});

test("$-fields come from the verified session", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  const token = tokenOf((await world.call("signup", { body: person })).text);
  const answer = await world.call("mine", { token });
  assertEquals(JSON.parse(answer.text).rows[0], [1, person.email, "integer", 1], answer.text);
  assertEquals(issuePaths(await world.call("mine?$user_id=9", { token })), ["$user_id"]);
  const row = rowsOf(
    await world.acme.query(
      "SELECT user_id FROM _service_meta_endpoint_call WHERE endpoint = 'mine' ORDER BY id",
    ),
  );
  assertEquals(row[0], ["1"]);
});

test("a session without the claim that a required $-field is taken from is told which", async () => {
  await using world = await publishedApp();
  const field = { name: "$user_email", type: "text" } as const;
  const mint = async (claims: object) => {
    const body = { namespaceSlug: "acme", databaseSlug: "main", userId: "7", ...claims };
    const { text } = await world.app.request("POST", "/v1/sessions", { token: world.acme.token, body });
    return JSON.parse(text).data.token;
  };
  const [bare, complete] = [await mint({}), await mint({ email: person.email })];
  await world.put({ slug: "who", auth: "session", sql: "SELECT ?", input: [{ ...field, required: true }] });
  const refused = await world.call("who", { token: bare });
  assertEquals([refused.status, refused.body.code], [401, "session_invalid"]);
  assertMatch(refused.body.error ?? "", /the claim email; \$user_email is required/);
  assertEquals(JSON.parse((await world.call("who", { token: complete })).text).rows, [[person.email]]);
  await world.put({ slug: "who", auth: "session", sql: "SELECT ?", input: [field] });
  assertEquals(JSON.parse((await world.call("who", { token: bare })).text).rows, [[null]]);
});

test("the rules of a $-field hold for the session's claims", async () => {
  await using world = await publishedApp();
  const mint = async (userId: string, email: string) => {
    const body = { namespaceSlug: "acme", databaseSlug: "main", userId, email };
    const { text } = await world.app.request("POST", "/v1/sessions", { token: world.acme.token, body });
    return JSON.parse(text).data.token;
  };
  const [inside, outside] = [await mint("7", "ada@corp.com"), await mint("7000", "evil@other.org")];
  const fields: readonly (readonly [rule: string, field: FieldSpec])[] = [
    ["pattern", { name: "$user_email", type: "text", pattern: "@corp[.]com$" }],
    ["enum", { name: "$user_email", type: "text", enum: ["ada@corp.com"] }],
    ["maxLength", { name: "$user_email", type: "email", maxLength: 12 }],
    ["maxLength", { name: "$user_id", type: "text", maxLength: 3 }],
    ["max", { name: "$user_id", type: "integer", max: 100 }],
    ["min", { name: "$session_iat", type: "integer", min: 4_000_000_000 }],
  ];
  for (const [rule, field] of fields) {
    await world.put({
      slug: "gated",
      auth: "session",
      sql: "SELECT ?",
      input: [{ ...field, required: true }],
    });
    const refused = await world.call("gated", { token: outside });
    assertEquals([refused.status, refused.body.code], [401, "session_invalid"], rule);
    assertMatch(refused.body.error ?? "", new RegExp(`\\${field.name} breaks its rule ${rule}$`));
    if (rule !== "min") assertEquals((await world.call("gated", { token: inside })).status, 200, rule);
  }
});

test("a claim has to have the type of its $-field", async () => {
  await using world = await publishedApp();
  const body = { namespaceSlug: "acme", databaseSlug: "main", userId: "seven", email: "no address" };
  const minted = await world.app.request("POST", "/v1/sessions", { token: world.acme.token, body });
  const { token } = JSON.parse(minted.text).data;
  const fields = [["$user_email", "email"], ["$user_email", "url"], ["$user_id", "integer"]] as const;
  for (const [name, type] of fields) {
    await world.put({ slug: "who", auth: "session", sql: "SELECT ?", input: [{ name, type }] });
    const { status, body } = await world.call("who", { token });
    assertEquals([status, body.code], [401, "session_invalid"], name);
    assertMatch(body.error ?? "", new RegExp(`\\${name} does not have the type ${type}$`));
  }
  await world.put({
    slug: "who",
    auth: "session",
    sql: "SELECT ?",
    input: [{ name: "$user_email", type: "text" }],
  });
  assertEquals(JSON.parse((await world.call("who", { token })).text).rows, [["no address"]]);
});

test("input is judged before the session, as the specification orders it", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  assertEquals((await world.call("mine?owner=x")).status, 400);
  assertEquals((await world.call("mine")).status, 401);
});

test("a session of another key, database or algorithm, expired or revoked, is 401", async () => {
  const clock = new TurnableClock();
  await using world = await withUsers(await publishedApp({ setup: users, clock }));
  const token = tokenOf((await world.call("signup", { body: person })).text);
  const { app, acme } = world;
  await acme.createDatabase("second");
  const minted = async (databaseSlug: string) => {
    const body = { namespaceSlug: "acme", databaseSlug, userId: "1" };
    const { text } = await app.request("POST", "/v1/sessions", { token: acme.token, body });
    return JSON.parse(text).data.token;
  };
  const [head = "", payload = "", signature = ""] = token.split(".");
  const nowSec = Math.floor(clock.now() / 1000);
  const claims = { sub: "1", aud: acme.database.id, iat: nowSec, exp: nowSec + 600 };
  const encode = (value: unknown) =>
    btoa(JSON.stringify(value)).replace(/=+$/, "").replace(/\+/g, "-").replace(/\//g, "_");
  const signedWith = (key: string, header: object) =>
    new SignJWT(claims).setProtectedHeader({ alg: "HS256", ...header }).sign(new TextEncoder().encode(key));
  const bad = [
    await minted("second"),
    `${encode({ alg: "none" })}.${encode(claims)}.`,
    `${encode({ alg: "none" })}.${payload}.${signature}`,
    `${encode({ alg: "HS512" })}.${payload}.${signature}`,
    `${encode({ alg: "RS256" })}.${payload}.${signature}`,
    `${head}.${encode({ ...decodeJwt(token), sub: "2" })}.${signature}`,
    await signedWith("x".repeat(32), {}),
    await signedWith("", { kid: "../../../../dev/null" }).catch(() => "e.e.e"),
    await signedWith("x".repeat(32), { kid: "' UNION SELECT 'x" }),
    acme.token,
    "null",
    `${token} `.repeat(2),
    "a.b.c",
  ];
  for (const wrong of bad) {
    const answer = await world.call("mine", { token: wrong });
    assertEquals([answer.status, answer.body.code], [401, "session_invalid"], wrong.slice(0, 60));
    assertEquals(answer.headers.get("www-authenticate"), "Bearer");
  }
  const missing = await world.call("mine");
  assertEquals([missing.status, missing.body.code], [401, "session_required"]);
  assertEquals((await world.call("mine", { token: await minted("main") })).status, 200);
  assertEquals((await world.call("mine", { token })).status, 200);
  clock.turn(3_600_000);
  assertEquals((await world.call("mine", { token })).status, 401);
  const fresh = await minted("main");
  assertEquals((await world.call("mine", { token: fresh })).status, 200);
  await app.request("POST", "/api/namespaces/acme/databases/main/sessions/revoke_all", { token: acme.token });
  assertEquals((await world.call("mine", { token: fresh })).status, 401);
});

test("a session whose user id has another type than the field is refused, a public endpoint ignores sessions", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  await world.put({ slug: "item" });
  const body = { namespaceSlug: "acme", databaseSlug: "main", userId: "user-7" };
  const { text } = await world.app.request("POST", "/v1/sessions", { token: world.acme.token, body });
  assertEquals(
    (await world.call("mine", { token: JSON.parse(text).data.token })).body.code,
    "session_invalid",
  );
  assertEquals((await world.call("item?id=1", { token: "nonsense" })).status, 200);
});

test("a branch brings nobody more guesses at its trunk's accounts, and no session of the other", async () => {
  await using world = await withUsers(await publishedApp({ setup: users }));
  await world.call("signup", { body: person });
  const claim = await world.app.request("POST", "/v1/db/acme/main/claim_branch", {
    token: world.acme.token,
    body: { purpose: "trial", ref: "trial", ttlSec: 600 },
  });
  assert(claim.status < 300, claim.text);
  const login = (database: string, password: string) =>
    world.app.request("POST", `/p/acme/${database}/login`, { body: { email: person.email, password } });
  const onBranch = await login("main@trial", person.password);
  assertEquals(onBranch.status, 200, onBranch.text);
  assertEquals((await world.call("mine", { token: tokenOf(onBranch.text) })).status, 401);
  for (let i = 0; i < 10; i++) await login(i % 2 === 0 ? "main" : "main@trial", "wrong horse");
  assertEquals((await login("main", person.password)).status, 429);
  assertEquals((await login("main@trial", person.password)).status, 429);
});
