// Links by mail: a password is reset and an address verified by whoever reads the account's mail, and by nobody else.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { DAY_MS, MINUTE_MS } from "../../lib/core/clock.ts";
import { CACHE_AGE_MS } from "../../lib/core/limits.ts";
import { oneStore } from "../testing/cases.ts";
import { startSmtpServer, type TestSmtpServer } from "../testing/smtp_server.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import {
  accountSpecs,
  type AccountWorld,
  accountWorld,
  outcome,
  PAGE,
  PASSWORD,
  tokenOf,
} from "./account_world.ts";

const { run, test } = oneStore();
Deno.test("links by mail", run);

const slugs = ["signup", "login", "reset", "verify", "me"];
const ada = { email: "ada@shop.example", password: PASSWORD };
const NEW = "battery staple";

interface MailWorld extends AccountWorld {
  readonly smtp: TestSmtpServer;
  readonly clock: TurnableClock;
  /** Asks for a link and answers the token in the mail, empty where none came. */
  link(slug: string, email: string, database?: string): Promise<string>;
  /** Until every mail that was asked for is sent or given up. */
  sent(): Promise<void>;
}

async function mailWorld(settings: Record<string, string> = {}): Promise<MailWorld> {
  const smtp = await startSmtpServer();
  const clock = new TurnableClock();
  const world = await accountWorld({
    slugs,
    clock,
    settings: { SMTP_URL: smtp.url, SMTP_FROM: "Shop <noreply@shop.example>", ...settings },
  });
  const sent = async () => await world.app.deps.published.mail?.idle();
  return {
    ...world,
    ...{ smtp, clock, sent },
    link: async (slug, email, database = "main") => {
      const { length } = smtp.mails;
      assertEquals((await world.post(slug, { email }, { database })).status, 200);
      await sent();
      return smtp.mails.length === length
        ? ""
        : /#token=(\w+)/.exec(smtp.mails.at(-1)?.text ?? "")?.[1] ?? "";
    },
    [Symbol.asyncDispose]: async () => {
      await sent();
      await world[Symbol.asyncDispose]();
      await smtp[Symbol.asyncDispose]();
    },
  };
}

test("a forgotten password is reset by a link in the account's mail, once, and its sessions end", async () => {
  await using world = await mailWorld();
  const session = await world.join(ada.email);
  const [[former] = []] = rowsOf(await world.acme.query("SELECT password_hash FROM users"));
  const token = await world.link("reset", "ADA@shop.example");
  const { from, to, head, text } = world.smtp.mails[0] ?? { from: "", to: [], head: "", text: "" };
  assertEquals([from, to], ["noreply@shop.example", [ada.email]]);
  assertMatch(head, /^Auto-Submitted: auto-generated$/m);
  assertMatch(head, /^Subject: Set a new password$/m);
  assert(text.includes(`${PAGE}/reset#token=${token}`), text);
  const reset = (password: string) => world.post("reset", { token, password });
  assertEquals(outcome(await reset("short")), [400, "validation_failed"]);
  assertEquals((await reset(NEW)).text, '{"done":true}');
  assertEquals(outcome(await reset("another staple")), [400, "link_invalid"]);
  assertEquals(await world.me(session), 401);
  assertEquals(outcome(await world.post("login", ada)), [401, "login_failed"]);
  tokenOf(await world.post("login", { ...ada, password: NEW }));
  // As a restore to before would bring it back.
  await world.acme.query("UPDATE users SET password_hash = ?", [former ?? null]);
  assertEquals(await world.me(session), 401);
});

test("an address is verified by its link, once, and not after it has changed", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  const verified = async () => rowsOf(await world.acme.query("SELECT verified_at FROM users"))[0]?.[0];
  const token = await world.link("verify", ada.email);
  assert(world.smtp.mails[0]?.text.includes(`${PAGE}/verify?from=mail#token=${token}`));
  assertEquals(await verified(), null);
  assertEquals((await world.post("verify", { token })).text, '{"done":true}');
  assertMatch(String(await verified()), /^\d{4}-\d\d-\d\dT.*Z$/);
  assertEquals(outcome(await world.post("verify", { token })), [400, "link_invalid"]);
  world.clock.turn(60_000);
  assertEquals(await world.link("verify", ada.email), "");
  await world.acme.query("UPDATE users SET verified_at = NULL");
  world.clock.turn(60_000);
  const late = await world.link("verify", ada.email);
  await world.acme.query("UPDATE users SET email = 'eve@shop.example'");
  assertEquals(outcome(await world.post("verify", { token: late })), [400, "link_invalid"]);
  assertEquals(await verified(), null);
});

test("of fifty callers with one link one sets the password", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  const token = await world.link("reset", ada.email);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => world.post("reset", { token, password: `battery staple ${at}` })),
  );
  const won = answers.flatMap(({ status }, at) => status === 200 ? [at] : []);
  assertEquals(won.length, 1);
  for (const { status, body } of answers) assert([200, 400, 429].includes(status), body.code);
  tokenOf(await world.post("login", { ...ada, password: `battery staple ${won[0]}` }));
});

test("a link counts at the endpoint and in the database that made it, for its time, until there is another password", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  const claim = await world.app.request("POST", "/v1/db/acme/main/claim_branch", {
    token: world.acme.token,
    body: { purpose: "trial", ref: "trial", ttlSec: 7200 },
  });
  assert(claim.status < 300, claim.text);
  const again = { ...accountSpecs["reset"], slug: "again", name: "again" };
  assertEquals((await world.manage("POST", "", again)).status, 201);
  await world.manage("POST", "/again/publish");
  const use = (slug: string, token: string, database = "main") =>
    world.post(slug, slug === "verify" ? { token } : { token, password: NEW }, { database });
  const invalid = async (slug: string, token: string, database?: string) =>
    assertEquals(outcome(await use(slug, token, database)), [400, "link_invalid"]);
  const onTrunk = await world.link("reset", ada.email);
  await invalid("reset", onTrunk, "main@trial");
  await invalid("again", onTrunk);
  await invalid("verify", onTrunk);
  const onBranch = await world.link("again", ada.email, "main@trial");
  await invalid("again", onBranch);
  assertEquals((await use("again", onBranch, "main@trial")).status, 200);
  world.clock.turn(30 * 60_000);
  await invalid("reset", onTrunk);
  const [first, second] = [await world.link("reset", ada.email), await world.link("again", ada.email)];
  const kept = await world.link("verify", ada.email);
  world.clock.turn(MINUTE_MS);
  const late = await world.link("verify", ada.email);
  assertEquals((await use("reset", first)).status, 200);
  await invalid("again", second);
  // Another password leaves the address what it is.
  assertEquals((await use("verify", kept)).status, 200);
  world.clock.turn(DAY_MS);
  await invalid("verify", late);
  // What proves an address sets no password, also where its endpoint has become one that does.
  const replace = (slug: string) =>
    world.manage("PUT", "/again", { ...accountSpecs[slug], slug: "again", name: "again" });
  assertEquals((await replace("verify")).status, 200);
  await world.acme.query("UPDATE users SET verified_at = NULL");
  const proof = await world.link("again", ada.email);
  assertEquals((await replace("reset")).status, 200);
  await invalid("again", proof);
  for (const token of ["", "x", `pacc_${"0".repeat(38)}`, second.toUpperCase()]) {
    await invalid("reset", token);
  }
});

test("the request for a link says nothing about an account, neither in its answer nor in what it asks", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  const { kv, tenants } = world.app.deps;
  const { get, atomic } = kv;
  const { open } = tenants;
  let asked: string[] = [];
  kv.get = <Value>(key: Deno.KvKey) => {
    asked.push(`get ${key.length} ${String(key[0])}`);
    return (get<Value>).call(kv, key);
  };
  kv.atomic = () => {
    asked.push("atomic");
    return atomic.call(kv);
  };
  tenants.open = (...path) => {
    asked.push("tenant");
    return open.call(tenants, ...path);
  };
  // The mail is written beside the request: nothing of it counts here.
  const { mail } = world.app.deps.published;
  const request = async (email: string) => {
    // What is cached is read anew now, and not in the midst of what is compared, however long a mail takes.
    world.clock.turn(CACHE_AGE_MS);
    await world.post("reset", {});
    asked = [];
    const answering = world.post("reset", { email });
    const { status, text, headers } = await answering;
    const names = [...headers.keys()].filter((name) => name !== "x-request-id").sort();
    const told = [status, text, names, asked.filter((what) => what !== "tenant").slice(0, 3)];
    await mail?.idle();
    return told;
  };
  await request("first@shop.example");
  const [known, unknown] = [await request(ada.email), await request("nobody@shop.example")];
  assertEquals(unknown, known);
  assertEquals(known[0], 200);
  assertEquals(world.smtp.mails.map(({ to }) => to), [[ada.email]]);
});

test("nobody is flooded: a mail a minute and ten a day for an address, whether there is an account or not", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  world.clock.turn(MINUTE_MS - world.clock.now() % MINUTE_MS);
  for (const email of [ada.email, "nobody@shop.example"]) {
    assertEquals((await world.post("reset", { email })).status, 200);
    const again = await world.post("reset", { email: email.toUpperCase() });
    assertEquals(outcome(again), [429, "rate_limited"]);
    assert(Number(again.headers.get("retry-after")) <= 60);
    assertEquals((await world.post("verify", { email })).status, 200);
  }
  // From the beginning of a day on, so that no day ends among the calls.
  world.clock.turn(DAY_MS - world.clock.now() % DAY_MS);
  const statuses: number[] = [];
  for (let call = 0; call < 11; call++) {
    statuses.push((await world.post("reset", { email: ada.email })).status);
    world.clock.turn(MINUTE_MS);
  }
  assertEquals(statuses, [...Array(10).fill(200), 429]);
});

test("input that is neither of the two forms is refused, and names what is wrong", async () => {
  await using world = await mailWorld();
  const bad: [string, object, string][] = [
    ["reset", {}, "token"],
    ["reset", { email: ada.email, token: "x" }, "token"],
    ["reset", { token: "x" }, "password"],
    ["reset", { password: NEW }, "token"],
    ["reset", { email: "no address" }, "email"],
    ["reset", { email: "a@b.c\r\nBcc: eve@shop.example" }, "email"],
    ["verify", {}, "token"],
    ["verify", { email: ada.email, token: "x" }, "token"],
  ];
  for (const [slug, body, path] of bad) {
    const answer = await world.post(slug, body);
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, path], JSON.stringify(body));
  }
});

test("a mail that the server will not take now is tried again, one that it never takes is on record", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  const { mail } = world.app.deps.published;
  world.smtp.refusal = 451;
  assertEquals(await world.link("reset", ada.email), "");
  assertEquals(world.smtp.attempts, 1);
  const putOff = () => world.app.logLines.filter((line) => line.includes("mail_put_off"));
  assertMatch(putOff().join(), /^[^\n]+"endpoint":"reset","reason":"EENVELOPE 451"/);
  await mail?.sweep();
  await world.sent();
  assertEquals(world.smtp.attempts, 1);
  world.smtp.refusal = null;
  world.clock.turn(60_000);
  await mail?.sweep();
  await world.sent();
  assertEquals([world.smtp.attempts, world.smtp.mails.length], [2, 1]);
  world.smtp.refusal = 550;
  world.clock.turn(60_000);
  assertEquals(await world.link("reset", ada.email), "");
  world.clock.turn(3_600_000);
  await mail?.sweep();
  await world.sent();
  assertEquals(world.smtp.attempts, 3);
  const audit = await world.app.request("GET", "/api/namespaces/acme/audit?pageSize=1", {
    token: world.acme.token,
  });
  const [entry] = audit.body.data as { action: string; target: string; facts: unknown }[];
  assertEquals([entry?.action, entry?.target, entry?.facts], ["mail.failed", "reset", {
    reason: "EENVELOPE 550",
  }]);
  const lines = world.app.logLines.filter((line) => line.includes("mail_failed"));
  assertEquals(lines.length, 1);
  assert(!world.app.logLines.join().includes(ada.email) && !lines.join().includes("words that nobody"));
});

test("a mail that a dead process has left is sent by the next one, and by one only", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  const { deps } = world.app;
  const { mail } = deps.published;
  const { MailJobs } = await import("../../lib/control/mail_jobs.ts");
  const jobs = new MailJobs(deps.kv, deps.clock);
  const namespaceId = (await deps.control.namespaces.bySlug("acme"))?.id ?? "";
  // As a process writes it before it answers; then it dies.
  await jobs.add({
    ...{ namespaceId, namespaceSlug: "acme", databasePath: "main", slug: "reset", email: ada.email },
    askedMs: deps.clock.now(),
  });
  await mail?.sweep();
  await world.sent();
  assertEquals(world.smtp.mails.length, 0);
  world.clock.turn(5 * 60_000);
  await Promise.all([mail?.sweep(), mail?.sweep(), mail?.sweep()]);
  await world.sent();
  assertEquals(world.smtp.mails.length, 1);
  assertEquals((await Array.fromAsync(deps.kv.list({ prefix: ["mail_job"] }))).length, 0);
});

test("an address in the table that is no address is sent nothing, and no line of it becomes a header", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  const { writeMail } = await import("../../lib/services/published/account_mail.ts");
  const { deps } = world.app;
  const namespaceId = (await deps.control.namespaces.bySlug("acme"))?.id ?? "";
  const written = (email: string) =>
    writeMail({ ...deps.published, mailPerDay: 100 }, {
      ...{ namespaceId, namespaceSlug: "acme", databasePath: "main", slug: "reset", email },
    });
  for (
    const evil of ["a@b.c\r\nBcc: eve@shop.example", "a@b.c, eve@shop.example", '"x eve@shop.example"@b.c']
  ) {
    await world.acme.query("UPDATE users SET email = ?", [evil]);
    const { SmtpMailer } = await import("../../lib/services/mail/smtp_mailer.ts");
    const mail = await written(evil);
    assert(mail !== null && deps.config.smtpUrl !== null);
    const mailer = new SmtpMailer({ server: deps.config.smtpUrl, from: "a@b.c", helo: "localhost" });
    assertEquals(await mailer.send(mail), { ok: false, isFinal: true, reason: "address" });
  }
  assertEquals(world.smtp.attempts, 0);
  // Nor is anybody sent what an endpoint was asked for before its owner took it away.
  await world.acme.query("UPDATE users SET email = ?", [ada.email]);
  assert(await written(ada.email) !== null);
  for (const [method, path] of [["POST", "/reset/pause"], ["DELETE", "/reset"]] as const) {
    assertEquals((await world.manage(method, path)).status, 200);
    assertEquals(await written(ada.email), null);
  }
});

test("the owner's words go out as they are, with the link where it belongs, and what would break is refused", async () => {
  await using world = await mailWorld();
  await world.join(ada.email);
  const spec = { ...accountSpecs["reset"], slug: "reset", name: "reset" };
  const save = (more: object, cors: readonly string[] = [PAGE]) =>
    world.manage("PUT", "/reset", {
      ...spec,
      cors,
      authConfig: { ...Object(accountSpecs["reset"]?.["authConfig"]), ...more },
    });
  const mail = (subject: string, text: string) => ({ mail: { subject, text } });
  const bad: [object, string][] = [
    [mail("One\r\nBcc: eve@shop.example", "{{link}}"), "authConfig.mail.subject"],
    [mail("{{link}}", "{{link}}"), "authConfig.mail.subject"],
    [mail("Hello", "no link"), "authConfig.mail.text"],
    [mail("Hello", "{{link}} {{password_hash}}"), "authConfig.mail.text"],
    [mail("Hello", "{{link}}\u0007"), "authConfig.mail.text"],
    [{ resetUrl: "https://evil.example/reset" }, "authConfig.resetUrl"],
    [{ resetUrl: `${PAGE}/reset#x` }, "authConfig.resetUrl"],
    [{ resetUrl: "javascript:alert(1)" }, "authConfig.resetUrl"],
    [{ resetUrl: "https://shop.example@evil.example/" }, "authConfig.resetUrl"],
    [{ resetUrl: "/reset" }, "authConfig.resetUrl"],
    [{ verifiedColumn: "verified_at" }, "authConfig.verifiedColumn"],
    [{ sessionTtlSec: 60 }, "authConfig.sessionTtlSec"],
  ];
  for (const [more, path] of bad) {
    const { status, body, text } = await save(more);
    assertEquals([status, body.issues?.[0]?.path], [400, path], text);
  }
  for (const verifiedColumn of ["Password_Hash", "EMAIL", "Id", "nothing"]) {
    const verify = { ...accountSpecs["verify"], slug: "verify", name: "verify" };
    const authConfig = { ...Object(accountSpecs["verify"]?.["authConfig"]), verifiedColumn };
    const { status, body } = await world.manage("PUT", "/verify", { ...verify, authConfig });
    assertEquals([status, body.issues?.[0]?.path], [400, "authConfig.verifiedColumn"], verifiedColumn);
  }
  const good = await save(mail("Für {{email}}", "Здравствуй {{email}},\n\n{{link}}\n"));
  assertEquals(good.status, 200, good.text);
  const token = await world.link("reset", ada.email);
  const [received] = world.smtp.mails;
  assertMatch(received?.head ?? "", /^Subject: =\?UTF-8\?/m);
  assertEquals(
    received?.text.trim().replaceAll("\r\n", "\n"),
    `Здравствуй ${ada.email},\n\n${PAGE}/reset#token=${token}`,
  );
});

test("a namespace sends no more mails in a day than it may, and mails that wait are bounded", async () => {
  await using world = await mailWorld({ MAIL_PER_DAY: "1" });
  await world.join(ada.email);
  await world.join("bob@shop.example");
  assert(await world.link("reset", ada.email) !== "");
  assertEquals(await world.link("reset", "bob@shop.example"), "");
  const answers = await Promise.all(
    Array.from({ length: 130 }, (_, at) => world.post("reset", { email: `user${at}@shop.example` })),
  );
  const codes = new Set(answers.map(({ status, body }) => `${status} ${body.code ?? ""}`));
  assert(
    codes.has("200 ") && [...codes].every((code) => ["200 ", "429 mail_busy"].includes(code)),
    [...codes].join(),
  );
  await world.sent();
  assertEquals(world.smtp.mails.length, 1);
});

test("without a mail server an endpoint says so, to everybody alike", async () => {
  await using world = await accountWorld({ slugs });
  await world.join(ada.email);
  for (const email of [ada.email, "nobody@shop.example"]) {
    assertEquals(outcome(await world.post("reset", { email })), [503, "mail_unavailable"]);
  }
});
