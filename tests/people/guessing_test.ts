// Guesses at passwords, keys and passkeys: how many tell the guesser something, and whom they lock out.
import { assert, assertEquals } from "@std/assert";
import { authenticateSession } from "../../lib/access/authenticate_session.ts";
import { newToken } from "../../lib/access/token_format.ts";
import { confirmByPassword } from "../../lib/services/people/own_account.ts";
import { accountOf, signInByOperatorKey, signInByPassword } from "../../lib/services/people/sign_in.ts";
import { confirmByPasskey, signInByPasskey } from "../../lib/services/people/use_passkeys.ts";
import { signIn } from "../testing/person.ts";
import { browser, HOUR_MS, PASSWORD, refusal, testPeople, typed } from "./people_world.ts";

testPeople("guessing", {
  "after ten failures of an hour even the right password is refused, and then it is taken again": async (
    world,
  ) => {
    const { people, clock } = world;
    await world.join("guessed@example.com", "viewer");
    for (let guess = 0; guess < 10; guess++) {
      const found = await refusal(signInByPassword(people, typed("guessed@example.com", `wrong ${guess}`)));
      assertEquals(found[0], "sign_in_failed", String(guess));
    }
    for (const password of ["wrong again", PASSWORD]) {
      const found = await refusal(signInByPassword(people, typed("Guessed@example.com", password)));
      assertEquals(found[0], "sign_in_locked");
    }
    const elsewhere = await refusal(
      signInByPassword(world.elsewhere, typed("guessed@example.com", PASSWORD)),
    );
    assertEquals(elsewhere[0], "sign_in_locked");
    clock.turn(HOUR_MS);
    await signInByPassword(people, typed("guessed@example.com", PASSWORD));
  },

  "an address that nobody has is locked like one that somebody has": async ({ people }) => {
    for (let guess = 0; guess < 10; guess++) {
      await refusal(signInByPassword(people, typed("ghost@example.com", "wrong")));
    }
    const found = await refusal(signInByPassword(people, typed("ghost@example.com", "wrong")));
    assertEquals(found[0], "sign_in_locked");
  },

  "of many guesses at once no more than ten tell the guesser anything": async (world) => {
    const { people } = world;
    await world.join("crowd@example.com", "viewer");
    const guesses = Array.from({ length: 14 }, (_, at) => `wrong ${at}`);
    const found = await Promise.all(
      guesses.map((one) => refusal(signInByPassword(people, typed("crowd@example.com", one)))),
    );
    assertEquals(found.filter(([code]) => code === "sign_in_failed").length, 10);
    assertEquals(found.filter(([code]) => code === "sign_in_locked").length, 4);
  },

  "thirty failures lock the address that they came from, and no other": async (world) => {
    const { people } = world;
    await world.join("bystander@example.com", "viewer");
    const { address } = browser();
    for (let guess = 0; guess < 30; guess++) {
      const answer = { id: `guess-${guess}`, response: {} };
      const found = await refusal(signInByPasskey(people, { answer, browser: browser({ address }) }));
      assertEquals(found[0], "passkey_refused");
    }
    const from = (where?: string) =>
      signInByPassword(people, typed("bystander@example.com", PASSWORD, where));
    assertEquals((await refusal(from(address)))[0], "sign_in_locked");
    await from();
  },

  "the operator comes in by the key; guesses from elsewhere do not lock it out": async (world) => {
    const { people, started } = world;
    const { address } = browser();
    for (let guess = 0; guess < 10; guess++) {
      const operatorKey = newToken("cub_op_");
      const wrong = { operatorKey, browser: browser({ address }) };
      assertEquals((await refusal(signInByOperatorKey(people, wrong)))[0], "sign_in_failed");
    }
    const right = { operatorKey: started.operatorKey };
    const locked = refusal(signInByOperatorKey(people, { ...right, browser: browser({ address }) }));
    assertEquals((await locked)[0], "sign_in_locked");
    const { secret } = await signInByOperatorKey(people, { ...right, browser: browser() });
    assertEquals((await authenticateSession(people, secret, { now: true }))?.caller.kind, "operator");
    const lines = started.logLines.filter((line) => line.includes("operator_sign"));
    assertEquals(lines.filter((line) => line.includes("refused")).length, 10);
    assert(lines.some((line) => line.includes("operator_signed_in")));
    assert(!started.logLines.some((line) => line.includes(started.operatorKey)));
  },

  "a namespace, an address or an id of any length is one that nobody has": async ({ people, started }) => {
    const long = "a".repeat(5000);
    for (
      const wrong of [typed(`${long}@example.com`, "wrong"), {
        ...typed("x@y", "wrong"),
        namespaceSlug: long,
      }]
    ) {
      assertEquals((await refusal(signInByPassword(people, wrong)))[0], "sign_in_failed");
    }
    const { headers } = await signIn(started, { role: "admin" });
    const acme = "/api/namespaces/acme";
    const paths = [`${acme}/members/`, `${acme}/tokens/`, "/api/me/sessions/", "/api/me/passkeys/"];
    const found: number[] = [];
    for (const path of paths) {
      found.push((await started.request("DELETE", path + long, { headers })).status);
    }
    found.push((await started.request("GET", `${acme}/approvals/${long}`, { headers })).status);
    found.push((await started.request("GET", `${acme}/databases/${long}`, { headers })).status);
    assertEquals(found, found.map(() => 404));
    for (const page of ["acme", "acme/members", "acme/tokens"]) {
      const answer = await started.request("GET", `/console/${page}?after=${long}`, { headers });
      assertEquals([answer.status, answer.text.includes("Send the nextCursor of the page before")], [
        400,
        true,
      ], page);
    }
    assertEquals(started.logLines.filter((line) => line.includes("request_failed")), []);
  },

  "a sign-in under the id of a member does not count against that member's confirmations": async (world) => {
    const { people } = world;
    const { id, secret } = await world.join("named@example.com", "admin");
    const answer = { id, response: {} };
    for (let guess = 0; guess < 10; guess++) {
      const found = await refusal(signInByPasskey(people, { answer, browser: browser() }));
      assertEquals(found[0], "passkey_refused");
    }
    const outside = await refusal(signInByPasskey(people, { answer, browser: browser() }));
    assertEquals(outside[0], "sign_in_locked");
    const signedIn = await authenticateSession(people, secret, { now: true });
    assert(signedIn !== null);
    const ctx = { ...people, caller: signedIn.caller };
    const inside = await refusal(confirmByPasskey(ctx, { answer, address: browser().address }));
    assertEquals(inside[0], "passkey_refused");
  },

  "failures of strangers do not keep who is signed in from confirming who they are": async (world) => {
    const { people, started } = world;
    const { secret } = await world.join("besieged@example.com", "admin");
    const account = await people.hashes.of("sign-in", ...accountOf("acme", "besieged@example.com"));
    for (let guess = 0; guess < 10; guess++) await people.failures.ofAccount.add("console", [{ account }]);
    const outside = signInByPassword(people, typed("besieged@example.com", PASSWORD));
    assertEquals((await refusal(outside))[0], "sign_in_locked");
    const signedIn = await authenticateSession(people, secret, { now: true });
    assert(signedIn !== null);
    const ctx = { ...people, caller: signedIn.caller };
    await confirmByPassword(ctx, { secret: PASSWORD, address: browser().address });
    for (let guess = 0; guess < 10; guess++) {
      const wrong = confirmByPassword(ctx, { secret: `wrong ${guess}`, address: browser().address });
      assertEquals((await refusal(wrong))[0], "sign_in_failed");
    }
    const right = confirmByPassword(ctx, { secret: PASSWORD, address: browser().address });
    assertEquals((await refusal(right))[0], "sign_in_locked");
    assert(started.logLines.every((line) => !line.includes(PASSWORD)));
  },
});
