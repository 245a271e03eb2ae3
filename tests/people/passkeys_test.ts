// Passkeys: how one is made, signs in and confirms, and what is refused of an authenticator, a browser or a thief.
import { assert, assertEquals } from "@std/assert";
import { HOUR_MS, MINUTE_MS } from "../../lib/core/clock.ts";
import { authenticateSession } from "../../lib/access/authenticate_session.ts";
import type { MemberCaller } from "../../lib/access/caller.ts";
import {
  acceptLinkByPasskey,
  addPasskey,
  beginLinkPasskey,
  beginPasskey,
  beginPasskeyConfirmation,
  beginPasskeySignIn,
  confirmByPasskey,
  listPasskeys,
  removePasskey,
  signInByPasskey,
} from "../../lib/services/people/use_passkeys.ts";
import { relyingParty } from "../../lib/services/people/relying_party.ts";
import { changePassword } from "../../lib/services/people/own_account.ts";
import { signInByPassword } from "../../lib/services/people/sign_in.ts";
import { signIn } from "../testing/person.ts";
import { member } from "../testing/test_namespace.ts";
import { type Lies, SoftwarePasskey } from "../testing/software_passkey.ts";
import { browser, PASSWORD, type PeopleWorld, refusal, testPeople, tokenOf, typed } from "./people_world.ts";

const PLACE = { origin: "http://localhost", rpId: "localhost" };
const EVIL = "https://evil.example";

async function callerOf({ people }: PeopleWorld, secret: string): Promise<MemberCaller> {
  const signedIn = await authenticateSession(people, secret, { now: true });
  assert(signedIn?.caller.kind === "member");
  return signedIn.caller;
}

/** A member with a passkey, and its account as a request has it. */
async function withPasskey(world: PeopleWorld, email: string) {
  const { id, secret } = await signIn(world.started, { role: "admin", email });
  const ctx = { ...world.people, caller: await callerOf(world, secret) };
  const passkey = await SoftwarePasskey.in(PLACE);
  const answer = await passkey.make(await beginPasskey(ctx));
  const made = await addPasskey(ctx, { name: "Laptop", answer });
  return { id, secret, ctx, passkey, made };
}

/** Of the passkey that a member has made: one that was asked to make another since says another one. */
function handleOf({ id }: { readonly id: string }): string {
  return new TextEncoder().encode(id).toBase64({ alphabet: "base64url", omitPadding: true });
}

async function signInWith({ people }: PeopleWorld, passkey: SoftwarePasskey, lies: Lies = {}) {
  const answer = await passkey.sign(await beginPasskeySignIn(people), lies);
  return await signInByPasskey(people, { answer, browser: browser() });
}

testPeople("passkeys", {
  "a member signs in by a passkey that it has made, and says nothing else": async (world) => {
    const { id, passkey, made, ctx } = await withPasskey(world, "ada@example.com");
    assertEquals([made.name, made.usedAt], ["Laptop", null]);
    const session = await signInWith(world, passkey);
    assertEquals(session.namespaceSlug, "acme");
    assertEquals((await callerOf(world, session.secret)).memberId, id);
    assert((await listPasskeys(ctx))[0]?.usedAt !== null);
  },

  "options name this service, ask for the person, and say whose passkeys there are": async (world) => {
    const { ctx, passkey } = await withPasskey(world, "options@example.com");
    const creation = await beginPasskey(ctx);
    assertEquals(creation.rp.id, "localhost");
    assertEquals(creation.attestation, "none");
    assertEquals(creation.authenticatorSelection?.userVerification, "required");
    assertEquals(creation.authenticatorSelection?.residentKey, "required");
    const confirmation = await beginPasskeyConfirmation(ctx);
    const { id } = await passkey.sign(confirmation);
    assertEquals(creation.excludeCredentials?.map((one) => one.id), [id]);
    assertEquals(confirmation.allowCredentials?.map((one) => one.id), [id]);
    const anybody = await beginPasskeySignIn(world.people);
    assertEquals([anybody.userVerification, anybody.allowCredentials], ["required", undefined]);
  },

  "a signature for another site, without the person, or with another user is refused": async (world) => {
    const { passkey } = await withPasskey(world, "forged@example.com");
    const refused: Lies[] = [
      { origin: EVIL },
      { origin: "http://localhost:81" },
      { origin: "http://127.0.0.1" },
      { rpId: "evil.example" },
      { verified: false },
      { type: "webauthn.create" },
      { userHandle: "" },
      { userHandle: btoa("mem_01ARZ3NDEKTSV4RRFFQ69G5FAV") },
    ];
    for (const lies of refused) {
      const [code] = await refusal(signInWith(world, passkey, lies));
      assertEquals(code, "passkey_refused", JSON.stringify(lies));
    }
    await signInWith(world, passkey);
  },

  "a registration for another site, or without the person, is refused": async (world) => {
    const { secret } = await signIn(world.started, { role: "viewer" });
    const ctx = { ...world.people, caller: await callerOf(world, secret) };
    const passkey = await SoftwarePasskey.in(PLACE);
    const refused: Lies[] = [
      { origin: EVIL },
      { rpId: "evil.example" },
      { verified: false },
      { type: "webauthn.get" },
    ];
    for (const lies of refused) {
      const answer = await passkey.make(await beginPasskey(ctx), lies);
      const [code] = await refusal(addPasskey(ctx, { name: "x", answer }));
      assertEquals(code, "passkey_refused", JSON.stringify(lies));
    }
    assertEquals(await listPasskeys(ctx), []);
  },

  "a challenge counts once, for five minutes, and only for what it was made": async (world) => {
    const { people, clock } = world;
    const { passkey, ctx } = await withPasskey(world, "challenge@example.com");
    const asked = await beginPasskeySignIn(people);
    const answer = await passkey.sign(asked);
    await signInByPasskey(people, { answer, browser: browser() });
    const again = await passkey.sign(asked);
    for (const one of [answer, again]) {
      const [code] = await refusal(signInByPasskey(people, { answer: one, browser: browser() }));
      assertEquals(code, "passkey_refused");
    }
    const late = await passkey.sign(await beginPasskeySignIn(people));
    clock.turn(5 * MINUTE_MS);
    assertEquals(
      (await refusal(signInByPasskey(people, { answer: late, browser: browser() })))[0],
      "passkey_refused",
    );
    const crossed = await passkey.sign(await beginPasskeyConfirmation(ctx));
    const misused = signInByPasskey(people, { answer: crossed, browser: browser() });
    assertEquals((await refusal(misused))[0], "passkey_refused");
    const forSignIn = await passkey.sign(await beginPasskeySignIn(people));
    const confirming = confirmByPasskey(ctx, forSignIn);
    assertEquals((await refusal(confirming))[0], "passkey_refused");
    const invented = await passkey.sign({ challenge: "A".repeat(75) });
    const guessed = signInByPasskey(people, { answer: invented, browser: browser() });
    assertEquals((await refusal(guessed))[0], "passkey_refused");
  },

  "of one answer sent to two processes at once one signs in": async (world) => {
    const { people, elsewhere } = world;
    const { passkey } = await withPasskey(world, "twice@example.com");
    const answer = await passkey.sign(await beginPasskeySignIn(people));
    const outcomes = await Promise.allSettled(
      [people, elsewhere].map((process) => signInByPasskey(process, { answer, browser: browser() })),
    );
    assertEquals(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  },

  "an authenticator that counts backwards is a copy, and is refused": async (world) => {
    const { passkey } = await withPasskey(world, "copied@example.com");
    await signInWith(world, passkey, { counter: 40 });
    assertEquals((await refusal(signInWith(world, passkey, { counter: 40 })))[0], "passkey_refused");
    assertEquals((await refusal(signInWith(world, passkey, { counter: 7 })))[0], "passkey_refused");
    await signInWith(world, passkey, { counter: 41 });
  },

  "confirming takes a passkey of that very member, in the session that asked, and each answer once": async (
    world,
  ) => {
    const { clock, people } = world;
    const own = await withPasskey(world, "confirms@example.com");
    const other = await withPasskey(world, "other-one@example.com");
    clock.turn(HOUR_MS);
    const asked = await beginPasskeyConfirmation(own.ctx);
    const foreign = await other.passkey.sign(asked);
    assertEquals(
      (await refusal(confirmByPasskey(own.ctx, foreign)))[0],
      "passkey_refused",
    );
    const stolen = await own.passkey.sign(await beginPasskeyConfirmation(own.ctx));
    assertEquals(
      (await refusal(confirmByPasskey(other.ctx, stolen)))[0],
      "passkey_refused",
    );
    const answer = await own.passkey.sign(asked);
    await confirmByPasskey(own.ctx, answer);
    for (const used of [answer, await own.passkey.sign(asked)]) {
      assertEquals((await refusal(confirmByPasskey(own.ctx, used)))[0], "passkey_refused");
    }
    const { signedInAt } = await callerOf(world, own.secret);
    assert(people.clock.now() - signedInAt < MINUTE_MS);
    assert(people.clock.now() - (await callerOf(world, other.secret)).signedInAt >= HOUR_MS);
  },

  "making and removing one takes a sign-in of the last 15 minutes and one's own account": async (world) => {
    const own = await withPasskey(world, "keeps@example.com");
    const other = await withPasskey(world, "thief@example.com");
    assertEquals((await refusal(removePasskey(other.ctx, own.made.id)))[0], "passkey_not_found");
    const answer = await own.passkey.make(await beginPasskey(own.ctx));
    assertEquals((await refusal(addPasskey(other.ctx, { name: "x", answer })))[0], "passkey_refused");
    // The authenticator of somebody else, made anew: a credential has one owner.
    const taken = await own.passkey.make(await beginPasskey(other.ctx));
    assertEquals((await refusal(addPasskey(other.ctx, { name: "x", answer: taken })))[0], "passkey_refused");
    world.clock.turn(HOUR_MS);
    assertEquals((await refusal(beginPasskey(own.ctx)))[0], "sign_in_again");
    assertEquals((await refusal(removePasskey(own.ctx, own.made.id)))[0], "sign_in_again");
    const userHandle = handleOf(own);
    const renewed = await signInWith(world, own.passkey, { userHandle });
    const ctx = { ...world.people, caller: await callerOf(world, renewed.secret) };
    const second = await SoftwarePasskey.in(PLACE);
    await addPasskey(ctx, { name: "Phone", answer: await second.make(await beginPasskey(ctx)) });
    await removePasskey(ctx, own.made.id);
    const removed = await refusal(signInWith(world, own.passkey, { userHandle }));
    assertEquals(removed[0], "passkey_refused");
  },

  "the name of a passkey is one line of characters": async ({ started }) => {
    const person = await signIn(started, { role: "viewer", email: "named@example.com" });
    for (const name of ["a\ud800", "a\nb"]) {
      const answer = await started.request("POST", "/api/me/passkeys", {
        ...person,
        body: JSON.stringify({ name, answer: { id: "x", response: {} } }),
      });
      const message = "Remove line breaks, other control characters and lone surrogates";
      assertEquals([answer.status, answer.body.issues], [400, [{ path: "name", message }]], answer.text);
    }
  },

  "nobody removes the last way to sign in: another passkey or a password has to be there": async (world) => {
    const { started } = world;
    const person = await signIn(started, { role: "viewer", email: "alone@example.com" });
    const ctx = { ...world.people, caller: await callerOf(world, person.secret) };
    const add = async (name: string) => {
      const device = await SoftwarePasskey.in(PLACE);
      return (await addPasskey(ctx, { name, answer: await device.make(await beginPasskey(ctx)) })).id;
    };
    const remove = async (id: string) => {
      const { status, body } = await started.request("DELETE", `/api/me/passkeys/${id}`, person);
      return status === 200 ? "removed" : `${status} ${body.code}`;
    };
    const both = [await add("Laptop"), await add("Phone")];
    assertEquals((await Promise.all(both.map(remove))).toSorted(), ["409 last_way_in", "removed"]);
    const [last] = await listPasskeys(ctx);
    assert(last !== undefined);
    assertEquals(await remove("pky_nobodys"), "404 passkey_not_found");
    const { secret } = await changePassword(ctx, { password: PASSWORD, browser: browser() });
    await removePasskey({ ...ctx, caller: await callerOf(world, secret) }, last.id);
    await signInByPassword(world.people, typed("alone@example.com", PASSWORD));
  },

  "an invitation can be accepted by a passkey alone, and ends those from before": async (world) => {
    const { people, started } = world;
    const own = await withPasskey(world, "again@example.com");
    const path = `/api/namespaces/acme/members/${own.id}/invite`;
    const invited = await started.request("POST", path, { token: started.operatorKey });
    const token = JSON.parse(invited.text).data.inviteUrl.split("/").at(-1);
    const fresh = await SoftwarePasskey.in(PLACE);
    const input = { token, passkeyName: "Phone", browser: browser() };
    const answer = await fresh.make(await beginLinkPasskey(people, { token }));
    const other = await world.invite("not-this-one@example.com", "viewer");
    const misused = acceptLinkByPasskey(people, { ...input, token: other.token, answer });
    assertEquals((await refusal(misused))[0], "passkey_refused");
    const somebody = await withPasskey(world, "somebody@example.com");
    const taken = await somebody.passkey.make(await beginLinkPasskey(people, { token }));
    assertEquals(
      (await refusal(acceptLinkByPasskey(people, { ...input, answer: taken })))[0],
      "passkey_refused",
    );
    await signInWith(world, somebody.passkey, { userHandle: handleOf(somebody) });
    await acceptLinkByPasskey(people, { ...input, answer });
    assertEquals((await refusal(signInWith(world, own.passkey)))[0], "passkey_refused");
    const caller = await callerOf(world, (await signInWith(world, fresh)).secret);
    const [kept, ...more] = await listPasskeys({ ...people, caller });
    assertEquals([kept?.name, more], ["Phone", []]);
    const audit = await started.request("GET", "/api/namespaces/acme/audit", { token: started.operatorKey });
    const acts: { actor: string; action: string; target: string | null; facts: unknown }[] =
      JSON.parse(audit.text).data;
    const acted = acts.filter(({ actor }) => actor === own.id);
    const told = (wanted: string) => acted.find(({ action }) => action === wanted);
    assertEquals(told("passkey.added")?.target, own.made.id);
    assertEquals(told("member.joined")?.facts, { by: "invitation", with: "passkey" });
  },

  "who came in by a token's link and becomes an admin comes in anew, without the passkeys of before": async (
    world,
  ) => {
    const { started, people } = world;
    const asOperator = { token: started.operatorKey };
    const made = await started.request("POST", "/api/namespaces/acme/tokens", {
      ...asOperator,
      body: { name: "inviter", role: "admin" },
    });
    const members = "/api/namespaces/acme/members";
    const invited = await started.request("POST", members, {
      token: member(made, "token"),
      body: { email: "by-a-token@example.com", role: "editor" },
    });
    assertEquals(invited.status, 201, invited.text);
    const token = tokenOf(invited);
    const passkey = await SoftwarePasskey.in(PLACE);
    const answer = await passkey.make(await beginLinkPasskey(people, { token }));
    await acceptLinkByPasskey(people, { token, passkeyName: "Phone", browser: browser(), answer });
    await signInWith(world, passkey);
    const path = `${members}/${member(invited, "id")}`;
    const changed = await started.request("PATCH", path, { ...asOperator, body: { role: "admin" } });
    assertEquals([changed.status, member(changed, "state")], [200, "invited"], changed.text);
    assertEquals((await refusal(signInWith(world, passkey)))[0], "passkey_refused");
  },

  "a removed member's passkeys open nothing": async (world) => {
    const { started } = world;
    const own = await withPasskey(world, "goes@example.com");
    const path = `/api/namespaces/acme/members/${own.id}`;
    assertEquals((await started.request("DELETE", path, { token: started.operatorKey })).status, 200);
    assertEquals((await refusal(signInWith(world, own.passkey)))[0], "passkey_refused");
  },

  "the name for passkeys comes from BASE_URL; where browsers have none, that is said": async () => {
    assertEquals(relyingParty("http://127.0.0.1:8000"), { id: "localhost", origin: "http://localhost:8000" });
    assertEquals(relyingParty("http://localhost"), { id: "localhost", origin: "http://localhost" });
    const domain = { id: "db.example.com", origin: "https://db.example.com:8443" };
    assertEquals(relyingParty("https://db.example.com:8443"), domain);
    for (
      const baseUrl of [
        "http://db.example.com",
        "http://192.168.1.5",
        "https://192.168.1.5",
        "https://[2001:db8::1]",
      ]
    ) {
      const [code] = await refusal(Promise.resolve().then(() => relyingParty(baseUrl)));
      assertEquals(code, "passkeys_unavailable", baseUrl);
    }
  },
});
