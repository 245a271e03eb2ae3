// Guesses at passwords, keys and passkeys: how many tell the guesser something, and whom they lock out.
import { assert, assertEquals } from "@std/assert";
import { HOUR_MS } from "../../lib/core/clock.ts";
import { authenticateSession } from "../../lib/access/authenticate_session.ts";
import { newToken } from "../../lib/access/token_format.ts";
import { confirmByPassword } from "../../lib/services/people/own_account.ts";
import { accountOf, signInByOperatorKey, signInByPassword } from "../../lib/services/people/sign_in.ts";
import { confirmByPasskey, signInByPasskey } from "../../lib/services/people/use_passkeys.ts";
import { sendForm } from "../console/open_page.ts";
import { signIn } from "../testing/person.ts";
import { browser, PASSWORD, refusal, testPeople, typed } from "./people_world.ts";

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

  "guesses from elsewhere do not lock a member out where it has signed in, for thirty days": async (
    world,
  ) => {
    const { people, clock } = world;
    await world.join("known@example.com", "viewer");
    const { address } = browser();
    const signsIn = (password: string, where?: string) =>
      signInByPassword(people, typed("known@example.com", password, where));
    const fails = async (times: number, where?: string) => {
      for (let guess = 0; guess < times; guess++) await refusal(signsIn(`wrong ${guess}`, where));
    };
    await signsIn(PASSWORD, address);
    await fails(10);
    assertEquals((await refusal(signsIn(PASSWORD)))[0], "sign_in_locked");
    await signsIn(PASSWORD, address);
    // Who guesses there has ten as well.
    await fails(9, address);
    await signsIn(PASSWORD, address);
    await fails(1, address);
    assertEquals((await refusal(signsIn(PASSWORD, address)))[0], "sign_in_locked");
    clock.turn(HOUR_MS);
    await signsIn(PASSWORD, address);
    // Another member's place is none.
    await world.join("stranger@example.com", "viewer");
    for (let guess = 0; guess < 10; guess++) {
      await refusal(signInByPassword(people, typed("stranger@example.com", "wrong")));
    }
    const stranger = await refusal(
      signInByPassword(people, typed("stranger@example.com", PASSWORD, address)),
    );
    assertEquals(stranger[0], "sign_in_locked");
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
    const from = await people.hashes.of("sign-in from", address);
    for (let guess = 0; guess < 30; guess++) {
      assertEquals(await people.failures.ofAddress.add("console", [{ account: from }]), 0);
    }
    const signsIn = (where?: string) =>
      signInByPassword(people, typed("bystander@example.com", PASSWORD, where));
    assertEquals((await refusal(signsIn(address)))[0], "sign_in_locked");
    await signsIn();
    // Passkeys still work there; they have a count of their own.
    const byPasskey = async (guess: number) => {
      const answer = { id: `guess-${guess}`, response: {} };
      return (await refusal(signInByPasskey(people, { answer, browser: browser({ address }) })))[0];
    };
    for (let guess = 0; guess < 30; guess++) assertEquals(await byPasskey(guess), "passkey_refused");
    assertEquals(await byPasskey(30), "sign_in_locked");
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
    const inside = await refusal(confirmByPasskey(ctx, answer));
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
    await confirmByPassword(ctx, PASSWORD);
    for (let guess = 0; guess < 10; guess++) {
      const wrong = confirmByPassword(ctx, `wrong ${guess}`);
      assertEquals((await refusal(wrong))[0], "sign_in_failed");
    }
    const right = confirmByPassword(ctx, PASSWORD);
    assertEquals((await refusal(right))[0], "sign_in_locked");
    assert(started.logLines.every((line) => !line.includes(PASSWORD)));
  },

  "strangers at the same address keep nobody who is signed in there from confirming who they are": async (
    { started },
  ) => {
    const operator = await signIn(started, { role: "operator" });
    // Who has been made for a test has no password yet, and gets another session with it.
    const set = await sendForm(started, {
      path: "/console/-/account/password",
      fields: { password: PASSWORD },
      person: await signIn(started, { role: "admin" }),
    });
    const cookie = set.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const guessAs = (path: string, fields: Record<string, string>) =>
      sendForm(started, { path, fields, person: null });
    for (let guess = 0; guess < 10; guess++) {
      await guessAs("/console/-/sign-in/key", { operatorKey: "cub_op_guessed" });
    }
    for (let guess = 0; guess < 20; guess++) {
      const fields = { namespace: "acme", email: `nobody-${guess}@example.com`, password: "guessed" };
      await guessAs("/console/-/sign-in", fields);
    }
    const locked = await guessAs("/console/-/sign-in/key", { operatorKey: started.operatorKey });
    assertEquals(locked.status, 429);
    const account = await started.request("GET", "/console/-/account", { headers: { cookie } });
    const csrf = /name="csrf" value="([^"]+)"/.exec(account.text)?.[1] ?? "";
    const confirm = async (headers: Readonly<Record<string, string>>, secret: string) =>
      (await started.request("POST", "/api/me/confirm", { headers, body: { secret } })).status;
    assertEquals(await confirm(operator.headers, `${started.operatorKey}x`), 401);
    assertEquals(await confirm(operator.headers, started.operatorKey), 200);
    assertEquals(await confirm({ ...operator.headers, cookie, "x-csrf-token": csrf }, PASSWORD), 200);
    // Whoever guesses in a browser that was left open keeps the operator out of no other.
    const other = await signIn(started, { role: "operator" });
    for (let guess = 1; guess < 10; guess++) {
      assertEquals(await confirm(operator.headers, `${started.operatorKey}${guess}`), 401);
    }
    assertEquals(await confirm(operator.headers, started.operatorKey), 429);
    assertEquals(await confirm(other.headers, started.operatorKey), 200);
  },
});
