// What a browser's session opens, and what it takes beside the cookie to change something.
import { assert, assertEquals } from "@std/assert";
import { HOUR_MS, MINUTE_MS } from "../../lib/core/clock.ts";
import { sessionHash } from "../../lib/access/authenticate_session.ts";
import { MAX_SESSIONS } from "../../lib/core/limits.ts";
import { openPersonSession } from "../../lib/services/people/open_person_session.ts";
import { keys } from "../../lib/store/keys.ts";
import { sendSlowly } from "../testing/send_slowly.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { signIn } from "../testing/person.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const clock = new TurnableClock();

async function status(
  { request }: StartedApp,
  headers: Record<string, string>,
  [method, path]: readonly [string, string] = ["GET", "/api/namespaces/acme"],
): Promise<[number, string | undefined]> {
  const answer = await request(method, path, {
    headers,
    ...(method === "GET" ? {} : { body: { name: "New name" } }),
  });
  return [answer.status, answer.body.code];
}

Deno.test("sessions of people", async (t) => {
  await using started = await startApp({ clock });
  const { namespace, request } = started;
  const acme = await namespace("acme");
  await namespace("other");
  const step = (name: string, fn: () => Promise<void>) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });

  await step("an admin member manages the namespace by cookie, its own and no other", async () => {
    const { cookie, headers } = await signIn(started, { role: "admin" });
    assertEquals(await status(started, { cookie }), [200, undefined]);
    assertEquals(await status(started, headers, ["PATCH", "/api/namespaces/acme"]), [200, undefined]);
    const foreign = await status(started, { cookie }, ["GET", "/api/namespaces/other"]);
    assertEquals(foreign, [403, "namespace_mismatch"]);
    assertEquals(await status(started, { cookie }, ["GET", "/api/namespaces"]), [403, "operator_required"]);
  });

  await step("the operator's session reaches every namespace", async () => {
    const { cookie } = await signIn(started, { role: "operator" });
    assertEquals(await status(started, { cookie }, ["GET", "/api/namespaces"]), [200, undefined]);
    assertEquals(await status(started, { cookie }, ["GET", "/api/namespaces/other"]), [200, undefined]);
  });

  await step("a viewer and an editor change nothing", async () => {
    for (const role of ["viewer", "editor"] as const) {
      const { headers } = await signIn(started, { role });
      const answer = await status(started, headers, ["PATCH", "/api/namespaces/acme"]);
      assertEquals(answer, [403, "role_too_low"], role);
    }
  });

  await step("a change needs an own origin and the word of that very session", async () => {
    const { headers, cookie, csrfToken } = await signIn(started, { role: "admin" });
    const { csrfToken: foreignWord } = await signIn(started, { role: "admin" });
    const origin = headers["origin"] ?? "";
    const word = "x-csrf-token";
    const refused: Record<string, string>[] = [
      { cookie },
      { cookie, origin },
      { cookie, [word]: csrfToken },
      { cookie, origin: "null", [word]: csrfToken },
      { cookie, origin: "https://evil.example", [word]: csrfToken },
      { cookie, origin: `${origin}.evil.example`, [word]: csrfToken },
      { cookie, origin: `${origin}:81`, [word]: csrfToken },
      { cookie, origin, [word]: foreignWord },
      { cookie, origin, [word]: "" },
      { cookie, origin, [word]: `${csrfToken}=` },
    ];
    for (const contentType of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
      for (const one of refused) {
        const sent = { ...one, "content-type": contentType };
        const answer = await status(started, sent, ["PATCH", "/api/namespaces/acme"]);
        assertEquals(answer, [403, "csrf_refused"], JSON.stringify(sent));
      }
    }
    assertEquals(await status(started, headers, ["PATCH", "/api/namespaces/acme"]), [200, undefined]);
    // Its own origin, but under a name that somebody else has given this machine.
    const named = { cookie, origin: "http://evil.example", [word]: csrfToken };
    const rebound = await status(started, named, ["PATCH", "http://evil.example/api/namespaces/acme"]);
    assertEquals(rebound, [403, "csrf_refused"]);
  });

  await step("a session that another process has ended changes nothing, from that moment on", async () => {
    const { secret, cookie, headers } = await signIn(started, { role: "admin" });
    assertEquals(await status(started, { cookie }), [200, undefined]);
    await started.deps.kv.delete(keys.consoleSession(sessionHash(secret)));
    const change = await status(started, headers, ["PATCH", "/api/namespaces/acme"]);
    assertEquals(change, [401, "session_ended"]);
  });

  await step("a cookie counts neither under /v1 nor under /p", async () => {
    const { headers } = await signIn(started, { role: "admin" });
    const query = await request("POST", `${acme.database.path}/query`, {
      headers,
      body: { sql: "SELECT 1" },
    });
    assertEquals([query.status, query.body.code], [401, "missing_bearer"]);
    const me = await request("GET", "/v1/me", { headers });
    assertEquals([me.status, me.body.code], [401, "missing_bearer"]);
    const endpoint = {
      slug: "mine",
      name: "Mine",
      kind: "query",
      method: "GET",
      auth: "session",
      sql: "SELECT ? AS id",
      input: [{ name: "$user_id", type: "text" }],
      output: "rows",
    };
    const path = "/api/namespaces/acme/databases/main/endpoints";
    assertEquals((await request("POST", path, { headers, body: endpoint })).status, 201);
    assertEquals((await request("POST", `${path}/mine/publish`, { headers })).status, 200);
    const published = await request("GET", "/p/acme/main/mine", { headers });
    assertEquals([published.status, published.body.code], [401, "session_required"]);
  });

  await step("where a bearer is sent too, it alone counts", async () => {
    const { cookie } = await signIn(started, { role: "admin" });
    const reader = await acme.mint("read");
    const answer = await status(started, { cookie, authorization: `Bearer ${reader.token}` });
    assertEquals(answer, [403, "role_too_low"]);
  });

  await step("what is no session, and one that has ended, asks to sign in again", async () => {
    const { secret, id, sessionId } = await signIn(started, { role: "admin" });
    for (const value of ["", "x", secret.slice(1), `${secret}a`, "A".repeat(43)]) {
      const answer = await status(started, { cookie: `cubby=${value}` });
      assertEquals(answer, [401, "session_ended"], value);
    }
    const { id: namespaceId } = await started.deps.control.namespaces.bySlug("acme") ?? { id: "" };
    const owner = { kind: "member", namespaceId, memberId: id } as const;
    assert(await started.deps.control.consoleSessions.end(owner, sessionId));
    assertEquals(await status(started, { cookie: `cubby=${secret}` }), [401, "session_ended"]);
  });

  await step("who is removed while a body comes in does nothing with it", async () => {
    for (const isForm of [false, true]) {
      const { id, headers, csrfToken } = await signIn(started, { role: "admin" });
      const input = { name: "stays", role: "admin" };
      const answer = await sendSlowly(started, {
        path: isForm ? "/console/acme/tokens" : "/api/namespaces/acme/tokens",
        headers: {
          ...headers,
          "host": "localhost",
          "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
        },
        text: isForm
          ? new URLSearchParams({ csrf: csrfToken, ...input, expiresInSec: "", scopes: "" }).toString()
          : JSON.stringify(input),
      }, async () => {
        const path = `/api/namespaces/acme/members/${id}`;
        const gone = await request("DELETE", path, { token: started.operatorKey });
        assertEquals(gone.status, 200, gone.text);
      });
      await answer.body?.cancel();
      assertEquals(answer.status, 401, isForm ? "form" : "json");
      const { text } = await request("GET", "/api/namespaces/acme/tokens", { token: acme.token });
      assertEquals(text.includes("stays"), false);
    }
  });

  await step(
    "a session ends 12 hours after its last use, and 7 days after its sign-in however much it is used",
    async () => {
      const idle = await signIn(started, { role: "admin" });
      clock.turn(12 * HOUR_MS);
      assertEquals(await status(started, { cookie: idle.cookie }), [401, "session_ended"]);
      const busy = await signIn(started, { role: "admin" });
      for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
        clock.turn(8 * HOUR_MS);
        assertEquals(await status(started, { cookie: busy.cookie }), [200, undefined], `${hours}`);
      }
      clock.turn(8 * HOUR_MS);
      assertEquals(await status(started, { cookie: busy.cookie }), [401, "session_ended"]);
    },
  );

  await step("a member's oldest session ends when there are more than it may have", async () => {
    const first = await signIn(started, { role: "viewer", email: "many@example.com" });
    const { control } = started.deps;
    const { id: namespaceId } = await control.namespaces.bySlug("acme") ?? { id: "" };
    const owner = { kind: "member", namespaceId, memberId: first.id } as const;
    const { epoch: provedEpoch } = await control.members.byId(namespaceId, first.id) ?? { epoch: null };
    const again = () =>
      openPersonSession(started.deps, { owner, provedEpoch, agent: "another browser", replaced: null });
    for (let count = 1; count < MAX_SESSIONS; count++) {
      clock.turn(1);
      await again();
    }
    assertEquals(await status(started, { cookie: first.cookie }), [200, undefined]);
    clock.turn(1);
    const { secret } = await again();
    assertEquals(await status(started, { cookie: first.cookie }), [401, "session_ended"]);
    const name = first.cookie.slice(0, first.cookie.indexOf("="));
    assertEquals(await status(started, { cookie: `${name}=${secret}` }), [200, undefined]);
    assertEquals((await control.consoleSessions.list(owner)).length, MAX_SESSIONS);
  });

  await step("the operator's session ends after an hour", async () => {
    const { cookie } = await signIn(started, { role: "operator" });
    clock.turn(59 * MINUTE_MS);
    assertEquals(await status(started, { cookie }), [200, undefined]);
    clock.turn(MINUTE_MS);
    assertEquals(await status(started, { cookie }), [401, "session_ended"]);
  });

  await step("KV knows a session by the hash of its cookie only", async () => {
    const { secret } = await signIn(started, { role: "admin" });
    const { value } = await started.deps.kv.get(keys.consoleSession(sessionHash(secret)));
    assert(value !== null);
    for await (const entry of started.deps.kv.list({ prefix: [] })) {
      const text = JSON.stringify([entry.key, entry.value]);
      assert(!text.includes(secret), text);
    }
  });
});
