// Guesses at passwords are bounded, and nobody can lock somebody else out by making them.
import { assert, assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { HOUR_MS } from "../../lib/core/clock.ts";
import { dyingKv, secondApp } from "../replay/second_app.ts";
import { oneStore } from "../testing/cases.ts";
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
Deno.test("lock-out", run);

const ada = { email: "ada@shop.example", password: PASSWORD };
const HOME = "198.51.100.7";
const ELSEWHERE = "203.0.113.9";

async function world(): Promise<AccountWorld & { readonly clock: TurnableClock }> {
  const clock = new TurnableClock();
  const made = await accountWorld({
    slugs: ["signup", "login", "reset", "me"],
    clock,
    settings: { TRUST_PROXY: "1" },
  });
  await made.join(ada.email);
  return { ...made, clock };
}

const login = (at: AccountWorld, from: string, password: string = PASSWORD) =>
  at.post("login", { ...ada, password }, { from });
/** A guess from each of so many addresses, one after the other: statuses. */
async function storm(at: AccountWorld, guesses: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let nth = 0; nth < guesses; nth++) {
    statuses.push((await login(at, `192.0.2.${nth}`, "wrong horse")).status);
  }
  return statuses;
}

test("whoever guesses from many addresses locks out nobody who has logged in from theirs", async () => {
  await using at = await world();
  tokenOf(await login(at, HOME));
  assertEquals(await storm(at, 12), [...Array(10).fill(401), 429, 429]);
  tokenOf(await login(at, HOME));
  assertEquals(outcome(await login(at, ELSEWHERE)), [429, "login_locked"]);
  // A known address has its own ten failures, and no more.
  for (let nth = 0; nth < 10; nth++) assertEquals((await login(at, HOME, "wrong horse")).status, 401);
  assertEquals(outcome(await login(at, HOME)), [429, "login_locked"]);
  at.clock.turn(HOUR_MS);
  tokenOf(await login(at, HOME));
});

test("who has logged in to an address that looks the same is a stranger at this one", async () => {
  await using at = await world();
  const twin = { email: ada.email.replace("a", "\uFF41"), password: "battery staple" };
  const login = (body: object, from: string) => at.post("enter", body, { from });
  const enter = { ...accountSpecs["login"], slug: "enter", name: "enter" };
  const input = [{ name: "email", type: "text", required: true }, {
    name: "password",
    type: "text",
    required: true,
  }];
  assertEquals((await at.manage("POST", "", { ...enter, input })).status, 201);
  await at.manage("POST", "/enter/publish");
  // As an app lets users change their addresses, to whatever they write.
  await at.join("eve@shop.example", twin.password);
  await at.acme.query("UPDATE users SET email = ? WHERE email = 'eve@shop.example'", [twin.email]);
  const places = Array.from({ length: 12 }, (_, nth) => `192.0.2.${nth}`);
  for (const from of places) tokenOf(await login(twin, from));
  const statuses: number[] = [];
  for (const from of places) statuses.push((await login({ ...ada, password: "wrong horse" }, from)).status);
  assertEquals(statuses, [...Array(10).fill(401), 429, 429]);
});

test("from an unknown address an account under attack only slows down, up to a quarter of an hour", async () => {
  await using at = await world();
  assertEquals((await storm(at, 11)).at(-1), 429);
  const waits: number[] = [];
  for (let round = 0; round < 4; round++) {
    const refused = await login(at, ELSEWHERE, "wrong horse");
    assertEquals(refused.status, 429);
    const sec = Number(refused.headers.get("retry-after"));
    waits.push(sec);
    at.clock.turn(sec * 1000);
    if (round < 3) assertEquals((await login(at, `192.0.2.${100 + round}`, "wrong horse")).status, 401);
  }
  // The clock goes on while it is asked: seconds are missing on a busy machine.
  for (const [at, most] of [30, 60, 120, 240].entries()) {
    assert((waits[at] ?? 0) <= most && (waits[at] ?? 0) > most / 2, waits.join());
  }
  tokenOf(await login(at, ELSEWHERE));
});

test("of many guesses at the end of a delay one tells something", async () => {
  await using at = await world();
  await storm(at, 10);
  at.clock.turn(30_000);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, nth) => login(at, `192.0.2.${100 + nth}`, "wrong horse")),
  );
  assertEquals(answers.filter(({ status }) => status === 401).length, 1);
  assertEquals(answers.filter(({ status }) => status === 429).length, 11);
});

test("one address has ten guesses an hour at an account, however it waits", async () => {
  await using at = await world();
  for (let nth = 0; nth < 10; nth++) assertEquals((await login(at, ELSEWHERE, "wrong horse")).status, 401);
  at.clock.turn(HOUR_MS / 2);
  const refused = await login(at, ELSEWHERE);
  assertEquals(outcome(refused), [429, "login_locked"]);
  assert(Number(refused.headers.get("retry-after")) > 1700);
});

test("what an owner does to an account is on record with its first commit, whatever becomes of the instance", async () => {
  await using at = await world();
  await login(at, ELSEWHERE, "wrong horse");
  const api = "/api/namespaces/acme";
  for (const [path, action] of [["login/unlock", "unlocked"], ["reset/link", "link_made"]]) {
    const kv = dyingKv(at.app.deps.kv, 1);
    await using dying = secondApp({ ...at.app, deps: { ...at.app.deps, kv } });
    const asked = { token: at.acme.token, body: { email: ada.email } };
    await dying.request("POST", `${api}/databases/main/endpoints/${path}`, asked);
    const audit = await at.app.request("GET", `${api}/audit`, { token: at.acme.token });
    assertEquals(audit.text.split(`"action":"account.${action}"`).length - 1, 1);
  }
});

test("the owner opens an account again, and makes links for mails of their own", async () => {
  await using at = await world();
  for (let nth = 0; nth < 10; nth++) await login(at, ELSEWHERE, "wrong horse");
  await storm(at, 1);
  assertEquals((await login(at, ELSEWHERE)).status, 429);
  const unlocked = await at.manage("POST", "/login/unlock", { email: "Ada@Shop.example" });
  assertEquals(unlocked.body.data, { unlocked: true }, unlocked.text);
  tokenOf(await login(at, ELSEWHERE));
  const made = await at.manage("POST", "/reset/link", { email: "Ada@Shop.example" });
  assertEquals(made.status, 201, made.text);
  const { token, link, email } = made.body.data as { token: string; link: string; email: string };
  assertEquals([link, email], [`https://shop.example/reset#token=${token}`, ada.email]);
  assertEquals((await at.post("reset", { token, password: "battery staple" })).status, 200);
  tokenOf(await at.post("login", { ...ada, password: "battery staple" }));
  const audit = await at.app.request("GET", "/api/namespaces/acme/audit?pageSize=2", {
    token: at.acme.token,
  });
  const acts = (audit.body.data as { action: string }[]).map(({ action }) => action);
  assertEquals(acts, ["account.link_made", "account.unlocked"]);
  assert(!audit.text.includes(token));
  const refused: [string, string, [number, string]][] = [
    ["/login/link", ada.email, [404, "endpoint_not_found"]],
    ["/reset/unlock", ada.email, [404, "endpoint_not_found"]],
    ["/reset/link", "nobody@shop.example", [404, "account_not_found"]],
    ["/login/unlock", "nobody@shop.example", [404, "account_not_found"]],
    ["/nothing/link", ada.email, [404, "endpoint_not_found"]],
  ];
  for (const [path, email, expected] of refused) {
    assertEquals(outcome(await at.manage("POST", path, { email })), expected, path);
  }
  const reader = await at.acme.mint("write");
  const asked = { token: reader.token, body: { email: ada.email } };
  const path = "/api/namespaces/acme/databases/main/endpoints/reset/link";
  assertEquals((await at.app.request("POST", path, asked)).status, 403);
});

test("what was counted while KV had no room is bounded as ever, and forgotten when the owner opens the account", async () => {
  await using at = await world();
  tokenOf(await login(at, HOME));
  const { kv } = at.app.deps;
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () =>
    Object.assign(atomic(), { commit: () => Promise.reject(new TypeError("database or disk is full")) });
  const guesses: number[] = [];
  for (let nth = 0; nth < 11; nth++) guesses.push((await login(at, HOME, "wrong horse")).status);
  assertEquals(guesses, [...Array(10).fill(401), 429]);
  kv.atomic = atomic;
  assertEquals(outcome(await login(at, HOME)), [429, "login_locked"]);
  const unlocked = await at.manage("POST", "/login/unlock", { email: ada.email });
  assertEquals(unlocked.status, 200, unlocked.text);
  tokenOf(await login(at, HOME));
});

test("a reset opens the account for its user, from there at once", async () => {
  await using at = await world();
  for (let nth = 0; nth < 10; nth++) await login(at, ELSEWHERE, "wrong horse");
  await storm(at, 1);
  assertEquals((await login(at, ELSEWHERE)).status, 429);
  const { token } = (await at.manage("POST", "/reset/link", { email: ada.email })).body.data as {
    token: string;
  };
  assertEquals((await at.post("reset", { token, password: PASSWORD }, { from: ELSEWHERE })).status, 200);
  assertEquals((await storm(at, 11)).at(-1), 429);
  assertEquals(decodeJwt(tokenOf(await login(at, ELSEWHERE))).sub, "1");
});

test("a place is known however the address is typed there, where an index finds it in any case", async () => {
  await using at = await world();
  await at.join("Grace@Shop.example");
  const enter = (email: string, from: string, password = PASSWORD) =>
    at.post("login", { email, password }, { from });
  const stormed = async () => {
    const guesses = Array.from({ length: 11 }, (_, nth) => `192.0.2.${nth}`);
    let last = 0;
    for (const from of guesses) last = (await enter("grace@shop.example", from, "wrong horse")).status;
    return last;
  };
  tokenOf(await enter("Grace@shop.example", HOME));
  assertEquals(await stormed(), 429);
  tokenOf(await enter("grace@shop.example", HOME));
  const made = await at.manage("POST", "/reset/link", { email: "grace@shop.example" });
  const { token } = made.body.data as { token: string };
  assertEquals((await at.post("reset", { token, password: PASSWORD }, { from: ELSEWHERE })).status, 200);
  assertEquals(await stormed(), 429);
  tokenOf(await enter("grace@shop.example", ELSEWHERE));
});
