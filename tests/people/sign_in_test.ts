// Signing in and out: what proves a person, how often it may be guessed, and what becomes of sessions.
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/core/clock.ts";
import { authenticateSession } from "../../lib/access/authenticate_session.ts";
import type { PersonCaller } from "../../lib/access/caller.ts";
import { changePassword, confirmByPassword, signOut } from "../../lib/services/people/own_account.ts";
import { signInByOperatorKey, signInByPassword } from "../../lib/services/people/sign_in.ts";
import { strongPassword } from "../../lib/services/people/strong_password.ts";
import { signIn } from "../testing/person.ts";
import {
  browser,
  OTHER_PASSWORD,
  PASSWORD,
  type PeopleWorld,
  refusal,
  testPeople,
  typed,
} from "./people_world.ts";

const SESSIONS = "/api/me/sessions";

async function personOf({ people }: PeopleWorld, secret: string): Promise<PersonCaller> {
  const signedIn = await authenticateSession(people, secret, { now: true });
  assert(signedIn !== null);
  return signedIn.caller;
}

testPeople("signing in", {
  "a member comes in by address and password, however the address is spelled": async (world) => {
    const { people } = world;
    const { id } = await world.join("ada@example.com", "editor");
    const session = await signInByPassword(people, typed(" ADA@example.com ", PASSWORD));
    assertEquals(session.namespaceSlug, "acme");
    const caller = await personOf(world, session.secret);
    assert(caller.kind === "member");
    assertEquals([caller.memberId, caller.role], [id, "editor"]);
  },

  "a password counts in its normal form, so that keyboards do not matter": async (world) => {
    const { people } = world;
    const { secret } = await world.join("cafe@example.com", "viewer");
    const caller = await personOf(world, secret);
    const password = "caf\u00e9 lantern 77 moss";
    await changePassword({ ...people, caller }, { password, browser: browser() });
    await signInByPassword(people, typed("cafe@example.com", "cafe\u0301 lantern 77 moss"));
  },

  "who is unknown, elsewhere, not yet there or without a password looks like a wrong password": async (
    world,
  ) => {
    const { people } = world;
    await world.join("known@example.com", "viewer");
    await world.invite("invited@example.com", "viewer");
    const wrong = await refusal(signInByPassword(people, typed("known@example.com", OTHER_PASSWORD)));
    assertEquals(wrong[0], "sign_in_failed");
    const others = [
      typed("nobody@example.com", PASSWORD),
      typed("invited@example.com", PASSWORD),
      typed("invited@example.com", ""),
      typed("", PASSWORD),
      typed("known@example.com", "x".repeat(9000)),
      { ...typed("known@example.com", PASSWORD), namespaceSlug: "other" },
      { ...typed("known@example.com", PASSWORD), namespaceSlug: "no-such-one" },
    ];
    for (const one of others) assertEquals(await refusal(signInByPassword(people, one)), wrong, one.email);
  },

  "another operator key ends the sessions of the one before": async ({ people, started }) => {
    const { secret } = await signInByOperatorKey(people, {
      operatorKey: started.operatorKey,
      browser: browser(),
    });
    const later = { control: people.control, operatorKeyHash: "0".repeat(64) };
    assertEquals(await authenticateSession(later, secret, { now: true }), null);
  },

  "a sign-in never takes over the session that the browser had before it": async (world) => {
    const { people } = world;
    await world.join("fixed@example.com", "viewer");
    const planted = await signIn(world.started, { role: "viewer" });
    const session = await signInByPassword(people, {
      ...typed("fixed@example.com", PASSWORD),
      browser: browser({ replaced: planted.secret }),
    });
    assertNotEquals(session.secret, planted.secret);
    assertEquals(await authenticateSession(people, planted.secret, { now: false }), null);
    const unknown = browser({ replaced: "A".repeat(43) });
    const other = await signInByPassword(people, {
      ...typed("fixed@example.com", PASSWORD),
      browser: unknown,
    });
    assertNotEquals(other.secret, unknown.replaced);
  },

  "a sign-out ends this session and no other": async (world) => {
    const { people } = world;
    const { secret } = await world.join("leaves@example.com", "viewer");
    const other = await signInByPassword(people, typed("leaves@example.com", PASSWORD));
    await signOut({ ...people, caller: await personOf(world, secret) });
    assertEquals(await authenticateSession(people, secret, { now: false }), null);
    await personOf(world, other.secret);
  },

  "a new password ends every session but the one that it gives": async (world) => {
    const { people, clock } = world;
    const { secret } = await world.join("changes@example.com", "viewer");
    const caller = await personOf(world, secret);
    const weak = await refusal(
      changePassword({ ...people, caller }, { password: "changes2026", browser: browser() }),
    );
    assertEquals(weak[0], "validation_failed");
    const renewed = await changePassword({ ...people, caller }, {
      password: OTHER_PASSWORD,
      browser: browser({ replaced: secret }),
    });
    assertEquals(await authenticateSession(people, secret, { now: false }), null);
    const old = await refusal(signInByPassword(people, typed("changes@example.com", PASSWORD)));
    assertEquals(old[0], "sign_in_failed");
    clock.turn(16 * MINUTE_MS);
    const late = await personOf(world, renewed.secret);
    const refused = await refusal(
      changePassword({ ...people, caller: late }, { password: PASSWORD, browser: browser() }),
    );
    assertEquals(refused[0], "sign_in_again");
  },

  "a password that is guessed first is not taken, and a long one costs no more to judge": async () => {
    const about = ["grace@hopper.example", "Grace Hopper", "acme"];
    const weak = [
      "short",
      "password123",
      "qwertyuiop",
      "acmeacmeacme",
      "grace hopper",
      "a".repeat(2000),
      "1".repeat(64),
      "river-cobalt-42 stone ".repeat(50),
    ];
    for (const password of weak) {
      const [code] = await refusal(strongPassword(password, about));
      assertEquals(code, "validation_failed", password);
    }
    assertEquals(await strongPassword("\u212bngstrom-lantern-77", about), "\u00c5ngstrom-lantern-77");
    const long = "river-cobalt-42 stone ".repeat(40).trim();
    assertEquals(await strongPassword(long, about), long);
  },

  "confirming makes the session new, for the password of that very member only": async (world) => {
    const { people, clock, started } = world;
    const { secret } = await world.join("confirms@example.com", "admin");
    clock.turn(HOUR_MS);
    const cookie = `cubby=${secret}`;
    const signedIn = await authenticateSession(people, secret, { now: true });
    assert(signedIn !== null);
    const headers = { cookie, origin: "http://127.0.0.1", "x-csrf-token": signedIn.csrfToken };
    const revoke = () => started.request("DELETE", "/api/namespaces/acme/tokens/none", { headers });
    assertEquals((await revoke()).body.code, "sign_in_again");
    const confirm = (secret: string) =>
      started.request("POST", "/api/me/confirm", { headers, body: { secret } });
    assertEquals((await confirm(OTHER_PASSWORD)).body.code, "sign_in_failed");
    assertEquals((await revoke()).body.code, "sign_in_again");
    assertEquals((await confirm(PASSWORD)).status, 200);
    assertEquals((await revoke()).body.code, "token_not_found");
    const nobody = { ...people, caller: { kind: "operator" } } as const;
    await confirmByPassword(nobody, started.operatorKey);
    clock.turn(15 * MINUTE_MS);
    assertEquals((await revoke()).body.code, "sign_in_again");
  },

  "people see their own sessions, and end any of them": async (world) => {
    const { people, started } = world;
    const mine = await world.join("sessions@example.com", "viewer");
    const second = await signInByPassword(people, typed("sessions@example.com", PASSWORD));
    const stranger = await signIn(started, { role: "admin" });
    const cookie = `cubby=${mine.secret}`;
    const list = await started.request("GET", SESSIONS, { headers: { cookie } });
    const rows: { id: string; agent: string; current: boolean }[] = JSON.parse(list.text).data;
    assertEquals(rows.map(({ current }) => current), [false, true]);
    assertEquals(rows.map(({ id }) => id)[0], second.sessionId);
    assert(!list.text.includes(mine.secret));
    const end = (id: string, who: Record<string, string>) =>
      started.request("DELETE", `${SESSIONS}/${id}`, { headers: who }).then(({ body }) => body.code);
    assertEquals(await end(second.sessionId, stranger.headers), "session_not_found");
    const word = (await authenticateSession(people, mine.secret, { now: true }))?.csrfToken ?? "";
    const headers = { cookie, origin: "http://127.0.0.1", "x-csrf-token": word };
    assertEquals(await end(second.sessionId, headers), undefined);
    assertEquals(await authenticateSession(people, second.secret, { now: false }), null);
    await signInByPassword(people, typed("sessions@example.com", PASSWORD));
    assertEquals((await started.request("DELETE", SESSIONS, { headers })).status, 200);
    const left = await started.request("GET", SESSIONS, { headers: { cookie } });
    assertEquals(JSON.parse(left.text).data.length, 1);
  },

  "a session that was proved before the password changed is not opened after it": async (world) => {
    const { people } = world;
    const { id } = await world.join("raced@example.com", "viewer");
    const namespace = await people.control.namespaces.bySlug("acme");
    assert(namespace !== null);
    const member = await people.control.members.byId(namespace.id, id);
    assert(member !== null);
    await people.control.members.change({
      namespaceId: namespace.id,
      memberId: id,
      keepAdmin: false,
      change: (current) => ({ ...current, epoch: current.epoch + 1 }),
    });
    const { openMemberSession } = await import("../../lib/services/people/sign_in.ts");
    assertEquals((await refusal(openMemberSession(people, member, browser())))[0], "session_ended");
  },

  "what people do about their accounts stands in the audit of the namespace": async (world) => {
    const { people, started } = world;
    const { id, secret } = await world.join("audited@example.com", "viewer");
    const caller = await personOf(world, secret);
    await changePassword({ ...people, caller }, { password: OTHER_PASSWORD, browser: browser() });
    const path = "/api/namespaces/acme/audit";
    const { text } = await started.request("GET", path, { token: started.operatorKey });
    const entries: { actor: string; actorName: string; action: string }[] = JSON.parse(text).data;
    const own = entries.filter(({ actor }) => actor === id);
    assertEquals(own.map(({ action }) => action), [
      "member.signed_in",
      "password.changed",
      "member.signed_in",
      "member.joined",
    ]);
    assert(own.every(({ actorName }) => actorName === "audited@example.com"));
    assert(!text.includes(secret) && !text.includes(OTHER_PASSWORD) && !text.includes("pinv_"));
  },

  "a week after the sign-in the list has nothing of it": async (world) => {
    const { people, clock } = world;
    const { secret } = await world.join("week@example.com", "viewer");
    const caller = await personOf(world, secret);
    assert(caller.kind === "member");
    clock.turn(7 * DAY_MS);
    const { namespaceId, memberId } = caller;
    assertEquals(await people.control.consoleSessions.list({ kind: "member", namespaceId, memberId }), []);
  },
});
