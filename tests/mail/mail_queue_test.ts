// Mails beside requests: how many at once and waiting, how often each is tried, and by whom.
import { assert, assertEquals } from "@std/assert";
import { type HeldJob, MailJobs } from "../../lib/control/mail_jobs.ts";
import { AppError } from "../../lib/core/errors.ts";
import { silentLog } from "../../lib/core/log.ts";
import type { Mail, SendOutcome } from "../../lib/services/mail/mailer.ts";
import { MailQueue, type MailRequest } from "../../lib/services/mail/mail_queue.ts";
import { type ControlWorld, controlWorld, interrupted } from "../testing/control_world.ts";

const MINUTE_MS = 60_000;
const OK: SendOutcome = { ok: true };

const asked = (email: string, namespaceId = "ns_1"): MailRequest => ({
  ...{ namespaceId, namespaceSlug: "acme", databasePath: "main", slug: "reset", email },
});

/** The queue of a process whose mails a server takes as `send` says. */
function queueOf(
  { kv, clock, control: { audit } }: ControlWorld,
  send: (mail: Mail) => SendOutcome | Promise<SendOutcome>,
  jobs = new MailJobs(kv, clock),
): MailQueue {
  return new MailQueue({
    ...{ jobs, clock, audit, log: silentLog },
    mailer: { send: async (mail) => await send(mail) },
    write: ({ email }) => Promise.resolve({ to: email, subject: "", text: "" }),
  });
}

/** The code of the failure; null: it is taken. */
const refusal = (queue: MailQueue, request: MailRequest): Promise<string | null> =>
  queue.add(request).then(() => null, (error) => error instanceof AppError ? error.code : String(error));

const waiting = async ({ kv }: ControlWorld) =>
  (await Array.fromAsync(kv.list({ prefix: ["mail_job"] }))).length;

async function reasons({ control: { audit } }: ControlWorld): Promise<unknown[]> {
  const page = { pageSize: 10, cursor: null, sinceMs: null, untilMs: null };
  const { records } = await audit.list("ns_1", page);
  return records.map(({ action, facts }) => [action, facts["reason"]]);
}

Deno.test("a mail is tried again after 1, 5 and 15 minutes, and is on record when it is given up", async () => {
  using world = await controlWorld();
  let tries = 0;
  const queue = queueOf(world, () => {
    tries++;
    return { ok: false, isFinal: false, reason: "EENVELOPE 451" };
  });
  const sweep = async () => {
    await queue.sweep();
    await queue.idle();
    return tries;
  };
  await queue.add(asked("ada@shop.example"));
  await queue.idle();
  for (const [at, minutes] of [1, 5, 15].entries()) {
    world.clock.turn((minutes - 0.5) * MINUTE_MS);
    assertEquals(await sweep(), at + 1);
    assertEquals(await reasons(world), []);
    world.clock.turn(0.5 * MINUTE_MS);
    assertEquals(await sweep(), at + 2);
  }
  assertEquals(await reasons(world), [["mail.failed", "EENVELOPE 451"]]);
  assertEquals([await waiting(world), queue.ended], [0, { sent: 0, failed: 1 }]);
});

Deno.test("a mail that was asked for more than an hour ago is not sent any more, which is on record", async () => {
  using world = await controlWorld();
  const sent: string[] = [];
  const queue = queueOf(world, ({ to }) => {
    sent.push(to);
    return OK;
  });
  const { kv, clock } = world;
  // A process that has died has left them.
  const dead = new MailJobs(kv, clock);
  await dead.add({ ...asked("early@shop.example"), askedMs: clock.now() });
  clock.turn(10 * MINUTE_MS);
  await dead.add({ ...asked("late@shop.example"), askedMs: clock.now() });
  clock.turn(51 * MINUTE_MS);
  await queue.sweep();
  await queue.idle();
  assertEquals(sent, ["late@shop.example"]);
  assertEquals(await reasons(world), [["mail.failed", "too late"]]);
  assertEquals([await waiting(world), queue.ended], [0, { sent: 1, failed: 1 }]);
});

Deno.test("a mail that failed, or whose process died, while the clock was a month ahead is sent once it is put back", async () => {
  using world = await controlWorld();
  const { kv, clock } = world;
  const sent: string[] = [];
  let isDown = true;
  const queue = queueOf(world, ({ to }) => {
    if (isDown) return { ok: false, isFinal: false, reason: "EENVELOPE 451" };
    sent.push(to);
    return OK;
  });
  const aheadMs = 30 * 24 * 60 * MINUTE_MS;
  clock.turn(aheadMs);
  await new MailJobs(kv, clock).add({ ...asked("left@shop.example"), askedMs: clock.now() });
  await queue.add(asked("failed@shop.example"));
  await queue.idle();
  isDown = false;
  clock.turn(-aheadMs);
  await queue.sweep();
  await queue.idle();
  assertEquals(sent.toSorted(), ["failed@shop.example", "left@shop.example"]);
  assertEquals(await waiting(world), 0);
});

Deno.test("a mail that another process has taken over meanwhile is sent by that one alone", async () => {
  using world = await controlWorld();
  const sent: string[] = [];
  const servers = [Promise.withResolvers<SendOutcome>(), Promise.withResolvers<SendOutcome>()] as const;
  const [first, second] = servers.map(({ promise }, at) =>
    queueOf(world, ({ to }) => {
      sent.push(`${at} ${to}`);
      return promise;
    })
  );
  for (let at = 0; at < 5; at++) await first?.add(asked(`user${at}@shop.example`));
  // Four are on their way, and one waits behind them for longer than it was held.
  world.clock.turn(5 * MINUTE_MS);
  await second?.sweep();
  servers[0].resolve(OK);
  await first?.idle();
  servers[1].resolve(OK);
  await second?.idle();
  assertEquals(sent.filter((one) => one.endsWith("user4@shop.example")), ["1 user4@shop.example"]);
});

Deno.test("of two processes that find the same mail one holds it", async () => {
  using world = await controlWorld();
  const { kv, clock } = world;
  const others = new MailJobs(kv, clock);
  await others.putOff(await others.add({ ...asked("ada@shop.example"), askedMs: clock.now() }), 0);
  let taken: HeldJob[] = [];
  const late = new MailJobs(interrupted(kv, async () => taken = await others.takeDue(10)), clock);
  assertEquals(await late.takeDue(10), []);
  const [job] = taken;
  assert(job !== undefined && await others.renew(job) !== null);
});

Deno.test("four mails are on their way at a time, a hundred of a namespace wait, and a thousand in all", async () => {
  using world = await controlWorld();
  const server = Promise.withResolvers<SendOutcome>();
  let underWay = 0;
  const queue = queueOf(world, () => {
    underWay++;
    return server.promise;
  });
  const busy = async (namespaceId: string) => {
    assertEquals(await refusal(queue, asked("a@b.example", namespaceId)), "mail_busy");
  };
  for (let at = 0; at < 1004; at++) {
    await queue.add(asked(`user${at}@shop.example`, `ns_${Math.floor(at / 100)}`));
    if (at === 99) await busy("ns_0");
  }
  assertEquals(underWay, 4);
  await busy("ns_11");
  // What waits in KV stays there, however due.
  const { kv, clock } = world;
  const left = new MailJobs(kv, clock);
  await left.putOff(await left.add({ ...asked("left@b.example"), askedMs: clock.now() }), 0);
  await queue.sweep();
  server.resolve(OK);
  await queue.idle();
  assertEquals([queue.ended.sent, await waiting(world)], [1004, 1]);
  // All places are free again.
  for (let at = 0; at < 100; at++) await queue.add(asked(`user${at}@shop.example`, "ns_0"));
  await queue.idle();
});

Deno.test("a mail of which KV has taken no note leaves no place taken", async () => {
  using world = await controlWorld();
  let isAway = true;
  class Away extends MailJobs {
    override add(...job: Parameters<MailJobs["add"]>): Promise<HeldJob> {
      return isAway ? Promise.reject(new AppError("meter_unreachable")) : super.add(...job);
    }
  }
  const queue = queueOf(world, () => OK, new Away(world.kv, world.clock));
  for (let at = 0; at < 101; at++) {
    assertEquals(await refusal(queue, asked("ada@shop.example")), "meter_unreachable");
  }
  isAway = false;
  await queue.add(asked("ada@shop.example"));
  await queue.idle();
  assertEquals(queue.ended.sent, 1);
});
