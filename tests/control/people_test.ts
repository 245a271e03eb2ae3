// Sessions, members and passkeys that change at the same moment, in one process or two.
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { requireFresh } from "../../lib/access/caller.ts";
import { readmitCaller } from "../../lib/access/readmit_caller.ts";
import { KeyedHashes } from "../../lib/control/keyed_hashes.ts";
import { LoginFailures } from "../../lib/control/login_failures.ts";
import { LoginGuesses } from "../../lib/control/login_guesses.ts";
import { MAX_SESSIONS } from "../../lib/core/limits.ts";
import { newId } from "../../lib/core/ids.ts";
import { keys } from "../../lib/store/keys.ts";
import type { LinkRecord, MemberRecord, PasskeyRecord } from "../../lib/store/people_records.ts";
import { guess } from "../../lib/services/people/guess.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

interface PeopleRecords extends Disposable {
  readonly world: ControlWorld;
  readonly namespaceId: string;
  member(name: string, more?: Partial<MemberRecord>): Promise<MemberRecord>;
  signIn(member: MemberRecord, hash: string, replaced?: string): Promise<boolean>;
  passkey(member: MemberRecord, name: string, challenge?: string, meanwhile?: () => unknown): Promise<string>;
}

async function peopleRecords(): Promise<PeopleRecords> {
  const world = await controlWorld();
  const { control, clock } = world;
  const { id: namespaceId } = await world.namespace();
  return {
    ...{ world, namespaceId },
    member: async (name, more = {}) => {
      const record: MemberRecord = {
        ...{ id: newId("mem", clock.now()), namespaceId, email: `${name}@a.example`, name, role: "editor" },
        ...{ passwordHash: "h", epoch: 0, createdAt: clock.now(), joinedAt: clock.now(), vouched: true },
        ...more,
      };
      assertEquals(await control.members.add(record), { ok: true });
      return record;
    },
    signIn: ({ id: memberId, epoch: provedEpoch }, hash, replaced) => {
      const now = clock.now();
      const owner = { kind: "member", namespaceId, memberId } as const;
      const times = { createdAt: now, signedInAt: now, untilMs: now + 7 * 86_400_000 };
      return control.consoleSessions.add(hash, { id: newId("ses", now), owner, ...times, agent: "" }, {
        ...{ operatorKeyHash: "o", replaced: replaced ?? null, provedEpoch },
      });
    },
    passkey: async ({ id: memberId, epoch }, name, challenge = name, meanwhile = () => {}) => {
      const record: PasskeyRecord = {
        ...{ id: `pky_${name}`, namespaceId, memberId, name, credentialId: name, counter: 0 },
        ...{ publicKey: new Uint8Array(1), transports: [], createdAt: clock.now(), usedAt: null },
      };
      const used = { hash: challenge, untilMs: clock.now() + 60_000 };
      const outcome = await control.passkeys.add(record, used, epoch, (commit) => {
        meanwhile();
        return commit;
      });
      return outcome.ok ? "added" : outcome.reason;
    },
    [Symbol.dispose]: () => world[Symbol.dispose](),
  };
}

const live = { operatorKeyHash: "o", now: false };

Deno.test("a browser that signs in again and again ends no session of another one", async () => {
  using people = await peopleRecords();
  const { world: { control: { consoleSessions }, clock }, signIn } = people;
  const member = await people.member("ada");
  assertEquals(await signIn(member, "phone"), true);
  for (let time = 0; time < MAX_SESSIONS + 1; time++) {
    clock.turn(10);
    assertEquals(await signIn(member, `desk ${time}`, `desk ${time - 1}`), true);
  }
  const found = await Promise.all(
    ["phone", "desk 0", `desk ${MAX_SESSIONS}`].map((hash) => consoleSessions.find(hash, live)),
  );
  assertEquals(found.map((one) => one !== null), [true, false, true]);
});

Deno.test("a session that another process has ended is refused at once by whatever looks at its record", async () => {
  using people = await peopleRecords();
  const { world, world: { control: { consoleSessions } } } = people;
  const member = await people.member("ada");
  await people.signIn(member, "desk");
  const found = await consoleSessions.find("desk", live);
  const elsewhere = world.other().consoleSessions;
  assertEquals(
    await elsewhere.end(found?.session.owner ?? { kind: "operator" }, found?.session.id ?? ""),
    true,
  );
  assertEquals((await consoleSessions.find("desk", live))?.session.id, found?.session.id);
  assertEquals(await consoleSessions.find("desk", { ...live, now: true }), null);
  assertEquals(await consoleSessions.find("desk", live), null);
});

Deno.test("a proof makes a session last, but none that ends meanwhile, and none beyond its time", async () => {
  using people = await peopleRecords();
  const { world, world: { control: { consoleSessions }, clock } } = people;
  const member = await people.member("ada");
  await people.signIn(member, "desk");
  const { owner, id } = (await consoleSessions.find("desk", live))?.session ?? { owner: null, id: "" };
  if (owner === null) throw new Error("it does not count");
  const hour = 3_600_000;
  clock.turn(11 * hour);
  assertEquals(await consoleSessions.confirm(owner, id) !== null, true);
  clock.turn(12 * hour - 1000);
  assertEquals((await consoleSessions.list(owner)).length, 1);
  const elsewhere = world.other().consoleSessions;
  assertEquals(await elsewhere.find("desk", live) !== null, true);
  const ending = world.meanwhile(() => consoleSessions.end(owner, id)).consoleSessions;
  assertEquals([await ending.confirm(owner, id), await consoleSessions.find("desk", live)], [null, null]);

  // A kept one ends in its time too.
  const [now, by] = [clock.now(), { operatorKeyHash: "o", replaced: null, provedEpoch: null }];
  const session = { id: newId("ses", now), owner: { kind: "operator" } as const, agent: "" };
  await consoleSessions.add("key", { ...session, createdAt: now, signedInAt: now, untilMs: now + 1000 }, by);
  assertEquals((await consoleSessions.find("key", live))?.member, null);
  clock.turn(1000);
  assertEquals(await consoleSessions.find("key", live), null);
});

Deno.test("a session lasts no longer, and proves nothing, by a clock that has been put back since", async () => {
  using people = await peopleRecords();
  const { world: { control: { consoleSessions }, clock } } = people;
  const member = await people.member("ada");
  const hour = 3_600_000;
  const isLive = async () => await consoleSessions.find("desk", { ...live, now: true }) !== null;
  await people.signIn(member, "desk");
  clock.turn(6 * hour);
  const before = (await consoleSessions.find("desk", live))?.session;
  assert(before);
  await consoleSessions.confirm(before.owner, before.id);
  await people.signIn(member, "ahead");
  clock.turn(-6 * hour);

  // What was there before goes on, until it has not been used for as long as any.
  const { signedInAt = 0 } = (await consoleSessions.find("desk", live))?.session ?? {};
  const { namespaceId, id: memberId, email } = member;
  const caller = { kind: "member", namespaceId, memberId, email, signedInAt } as const;
  const rest = { namespaceSlug: "acme", role: "admin", epoch: 0, sessionId: before.id } as const;
  assertThrows(() => requireFresh({ ...caller, ...rest }, clock.now()), /Confirm who you are/);
  assertEquals(await isLive(), true);
  clock.turn(12 * hour);
  assertEquals(await isLive(), false);

  await people.signIn(member, "desk");
  await consoleSessions.end(before.owner, before.id);
  clock.turn(-24 * hour);
  assertEquals([await isLive(), (await consoleSessions.list(before.owner)).length], [false, 0]);
});

Deno.test("a member who has changed since it proved who it is gets no session, and another operator key ends those of the one before", async () => {
  using people = await peopleRecords();
  const { world: { control: { consoleSessions, members }, clock }, namespaceId } = people;
  const before = await people.member("ada");
  const at = { namespaceId, memberId: before.id, keepAdmin: false };
  await members.change({ ...at, change: (now) => ({ ...now, role: "viewer" }) });
  assertEquals(await people.signIn(before, "desk"), false);
  const session = { id: newId("ses", clock.now()), owner: { kind: "operator" } as const, agent: "" };
  const times = { createdAt: clock.now(), signedInAt: clock.now(), untilMs: clock.now() + 3_600_000 };
  const by = { operatorKeyHash: "o", replaced: null, provedEpoch: null };
  assertEquals(await consoleSessions.add("operator", { ...session, ...times }, by), true);
  const found = async (operatorKeyHash: string) =>
    await consoleSessions.find("operator", { operatorKeyHash, now: true });
  assertEquals([await found("o") !== null, await found("other")], [true, null]);
});

Deno.test("who is no member any more may make no further call", async () => {
  using people = await peopleRecords();
  const { world: { clock, control }, namespaceId } = people;
  const { id: memberId } = await people.member("ada");
  const call = { target: { namespaceId }, tokenId: memberId };
  await readmitCaller({ control, clock }, call);
  await control.members.change({ namespaceId, memberId, keepAdmin: false, change: () => null });
  await assertRejects(() => readmitCaller({ control, clock }, call), /session/);
});

Deno.test("of two passkeys that are removed at once the last way in stays, and of two admins one", async () => {
  using people = await peopleRecords();
  const { world: { control: { passkeys, members } }, namespaceId } = people;
  const member = await people.member("ada", { passwordHash: null });
  assertEquals([await people.passkey(member, "a"), await people.passkey(member, "b")], ["added", "added"]);
  const at = { namespaceId, memberId: member.id };
  const removed = await Promise.all(["pky_a", "pky_b"].map((id) => passkeys.remove(at, id)));
  assertEquals(removed.filter(({ ok }) => ok).length, 1);
  assertEquals((await passkeys.list(member.id)).length, 1);

  const admins = [
    await people.member("eve", { role: "admin" }),
    await people.member("bob", { role: "admin" }),
  ];
  const left = await Promise.all(admins.map(({ id: memberId }, n) =>
    members.change({
      ...{ namespaceId, memberId, keepAdmin: true },
      change: (now) => n === 0 ? null : { ...now, role: "viewer" },
    })
  ));
  assertEquals(left.filter(({ ok }) => ok).length, 1);
});

Deno.test("a passkey comes with the member as it is: not beside its removal, and not by a challenge that counted", async () => {
  using people = await peopleRecords();
  const { world: { kv, control: { passkeys } }, namespaceId } = people;
  const member = await people.member("ada");
  assertEquals(await people.passkey(member, "a", "used"), "added");
  assertEquals(await people.passkey(member, "b", "used"), "challenge_used");
  assertEquals(await people.passkey(member, "a"), "credential_taken");
  assertEquals(await people.passkey({ ...member, epoch: 1 }, "c"), "member_changed");
  const remove = () => void kv.delete(keys.member(namespaceId, member.id));
  assertEquals(await people.passkey(member, "d", "d", remove), "member_changed");
  assertEquals((await passkeys.list(member.id)).map(({ name }) => name), ["a"]);
  assertEquals(await passkeys.byCredential("d"), null);
});

Deno.test("a passkey that signs twice at once counts once, by its challenge and by its counter", async () => {
  using people = await peopleRecords();
  const { world: { clock, control: { passkeys } } } = people;
  const member = await people.member("ada");
  await people.passkey(member, "a");
  const [passkey] = await passkeys.list(member.id);
  const untilMs = clock.now() + 60_000;
  const use = (hash: string, counter: number) =>
    passkey ? passkeys.use(passkey, counter, { hash, untilMs }) : Promise.resolve(false);
  // What does not count keeps its number.
  const same = await Promise.all([use("one", 0), use("one", 0), use("one", 0)]);
  assertEquals(same.filter((counts) => counts).length, 1);
  const counted = await Promise.all([use("two", 1), use("three", 1)]);
  assertEquals(counted.filter((counts) => counts).length, 1);
  assertEquals((await passkeys.list(member.id))[0]?.counter, 1);
});

Deno.test("a link lets one in: not twice, not into a namespace that goes meanwhile, and not past a newer one", async () => {
  using people = await peopleRecords();
  const { world: { kv, clock, control: { links, members } }, namespaceId } = people;
  const member = await people.member("ada", { joinedAt: null, passwordHash: null });
  const link: LinkRecord = {
    ...{
      kind: "invitation",
      namespaceId,
      memberId: member.id,
      byPerson: true,
      untilMs: clock.now() + 60_000,
    },
  };
  const accept = async (hash: string, meanwhile: () => unknown = () => {}) => {
    const outcome = await links.accept(hash, {
      member: (now) => ({ ...now ?? member, joinedAt: clock.now(), passwordHash: hash }),
      passkey: null,
      also: (commit) => {
        meanwhile();
        return commit;
      },
    });
    return outcome.ok ? "in" : outcome.reason;
  };
  await Promise.all(["one", "two", "three"].map((hash) => links.invite(hash, link)));
  const came = await Promise.all(["one", "two", "three"].map((hash) => accept(hash)));
  assertEquals(came.toSorted(), ["in", "link_gone", "link_gone"]);

  await links.invite("four", link);
  assertEquals((await Promise.all([accept("four"), accept("four")])).toSorted(), ["in", "link_gone"]);

  await links.invite("five", link);
  const { value } = await kv.get(keys.namespace(namespaceId));
  assertEquals(await accept("five", () => void kv.delete(keys.namespace(namespaceId))), "link_gone");
  await kv.set(keys.namespace(namespaceId), value);

  // Made admin meanwhile: a link of a token lets no admin in.
  await links.invite("six", { ...link, byPerson: false });
  const admin = { ...member, role: "admin" } as const;
  assertEquals(
    await accept("six", () => void kv.set(keys.member(namespaceId, member.id), admin)),
    "link_gone",
  );
  assertEquals((await members.byId(namespaceId, member.id))?.joinedAt, null);

  await links.invite("seven", link);
  clock.turn(60_000);
  assertEquals([await links.find("seven"), await accept("seven")], [null, "link_gone"]);
});

Deno.test("who has to come in anew comes without a passkey or link of before, also one that was made meanwhile", async () => {
  using people = await peopleRecords();
  const { world, world: { clock, control: { passkeys, links } }, namespaceId } = people;
  const member = await people.member("ada");
  await people.passkey(member, "a");
  const at = { namespaceId, memberId: member.id, keepAdmin: false };
  const anew = (now: MemberRecord): MemberRecord => ({ ...now, joinedAt: null, epoch: now.epoch + 1 });
  const adding = world.meanwhile(() => people.passkey(member, "b"));
  assertEquals((await adding.members.change({ ...at, change: anew })).ok, true);
  assertEquals(await passkeys.list(member.id), []);

  const link = { kind: "invitation", namespaceId, memberId: member.id, byPerson: true } as const;
  const untilMs = clock.now() + 60_000;
  const inviting = world.meanwhile(() => links.invite("one", { ...link, untilMs }));
  assertEquals((await inviting.members.change({ ...at, change: () => null })).ok, true);
  assertEquals(await links.find("one"), null);
  const { id: memberId } = await people.member("eve");
  const removed = world.meanwhile(() => world.kv.delete(keys.member(namespaceId, memberId)));
  assertEquals(await removed.links.invite("two", { ...link, memberId, untilMs }), false);
});

Deno.test("an address is one member's, whoever else comes with it at the same moment, and none of a namespace that goes", async () => {
  using people = await peopleRecords();
  const { world, world: { kv, clock, control: { links, members } }, namespaceId } = people;
  const { id, ...known } = await people.member("ada");
  const again = { ...known, id: `${id}2`, email: "eve@a.example" };
  const outcomes = await Promise.all([1, 2].map((n) => members.add({ ...again, id: `${id}${n}` })));
  assertEquals(outcomes.filter(({ ok }) => ok).length, 1);
  const changed = await Promise.all([1, 2, 3].map(() =>
    members.change({
      ...{ namespaceId, memberId: id, keepAdmin: false },
      change: (now) => ({ ...now, name: `${now.name}.` }),
    })
  ));
  assertEquals(changed.map(({ ok }) => ok), [true, true, true]);
  assertEquals((await members.byId(namespaceId, id))?.name, "ada...");

  const start: LinkRecord = {
    ...{ kind: "start", namespaceId, memberId: "mem_first", byPerson: true, untilMs: clock.now() + 60_000 },
  };
  const accept = async (hash: string, email: string) => {
    const outcome = await links.accept(hash, {
      member: () => ({ ...known, id: `mem_${hash}`, email, joinedAt: 1 }),
      passkey: null,
    });
    return outcome.ok ? "in" : outcome.reason;
  };
  for (const hash of ["one", "two", "three"]) await links.addStart(hash, start);
  const same = await Promise.all(["one", "two"].map((hash) => accept(hash, "bob@a.example")));
  assertEquals(same.toSorted(), ["email_taken", "in"]);
  const twice = await Promise.all(["kim", "lee"].map((name) => accept("three", `${name}@a.example`)));
  assertEquals(twice.toSorted(), ["in", "link_gone"]);

  const going = world.meanwhile(() => kv.delete(keys.namespace(namespaceId)));
  const late = { ...again, id: `${id}3`, email: "late@a.example" };
  assertEquals(await going.members.add(late), { ok: false, reason: "namespace_gone" });
});

Deno.test("a passkey that comes with a link is new, and its challenge counts for one link", async () => {
  using people = await peopleRecords();
  const { world: { clock, control: { links, passkeys } }, namespaceId } = people;
  const [ada, eve, bob] = [
    await people.member("ada"),
    await people.member("eve"),
    await people.member("bob"),
  ];
  const untilMs = clock.now() + 60_000;
  for (const { id: memberId, name } of [ada, eve, bob]) {
    await links.invite(name ?? "", { kind: "invitation", namespaceId, memberId, byPerson: true, untilMs });
  }
  const accept = async ({ id: memberId, name }: MemberRecord, credentialId: string, challenge: string) => {
    const record: PasskeyRecord = {
      ...{ id: `pky_${name}`, namespaceId, memberId, name: "", credentialId, counter: 0 },
      ...{ publicKey: new Uint8Array(1), transports: [], createdAt: 0, usedAt: null },
    };
    const outcome = await links.accept(name ?? "", {
      member: (now) => now ?? ada,
      passkey: { record, challenge: { hash: challenge, untilMs } },
    });
    return outcome.ok ? "in" : outcome.reason;
  };
  const same = await Promise.all([accept(ada, "a", "one"), accept(eve, "b", "one")]);
  assertEquals(same.toSorted(), ["challenge_used", "in"]);
  const [late] = same[0] === "in" ? [eve] : [ada];
  const taken = await Promise.all([accept(late, "c", "two"), accept(bob, "c", "three")]);
  assertEquals(taken.toSorted(), ["credential_taken", "in"]);
  const kept = await Promise.all([ada, eve, bob].map(({ id }) => passkeys.list(id)));
  assertEquals(kept.flat().length, 2);
});

Deno.test("failures slow an account down by twice as long each, up to a quarter of an hour", async () => {
  using world = await controlWorld();
  const stand = { nowMs: world.clock.now() };
  const failures = new LoginFailures(world.kv, { now: () => stand.nowMs, monotonicMs: () => stand.nowMs });
  const account = [{ account: "ann", slows: true }];
  for (let guess = 0; guess < 10; guess++) assertEquals(await failures.add("db_a", account), 0);
  const delays: number[] = [];
  for (let more = 0; more < 7; more++) {
    const sec = await failures.lockedSec("db_a", account);
    delays.push(sec);
    stand.nowMs += sec * 1000 - 1;
    assertEquals(await failures.add("db_a", account), 1);
    stand.nowMs++;
    assertEquals(await failures.add("db_a", account), 0);
  }
  assertEquals(delays, [30, 60, 120, 240, 480, 900, 900]);
});

Deno.test("whoever was right learns nothing once others have used up the failures of the hour meanwhile", async () => {
  using world = await controlWorld();
  const { kv, clock } = world;
  const [ofAccount, ofAddress] = [new LoginFailures(kv, clock), new LoginFailures(kv, clock, 30)];
  const ctx = {
    hashes: new KeyedHashes(kv),
    failures: { ofAccount, ofAddress },
    places: new LoginGuesses(kv, clock),
  };
  const guessed = { account: ["ann"], address: "here" };
  const wrong = () => Promise.resolve(null);
  const right = guess(ctx, guessed, async () => {
    for (let time = 0; time < 10; time++) {
      await assertRejects(
        () => guess(ctx, { ...guessed, address: `${time}` }, wrong),
        /does not belong together/,
      );
    }
    return true;
  });
  await assertRejects(() => right, /Wait before the next try/);
});
