// The members of a namespace over the API: who may add, change and remove whom, and what ends with it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { HOUR_MS } from "../../lib/core/clock.ts";
import { acceptLink, readLink } from "../../lib/services/people/accept_link.ts";
import { signInByPassword } from "../../lib/services/people/sign_in.ts";
import { newId } from "../../lib/core/ids.ts";
import { MAX_MEMBERS } from "../../lib/core/limits.ts";
import { keys } from "../../lib/store/keys.ts";
import type { ApiRequest } from "../testing/call_api.ts";
import { signIn } from "../testing/person.ts";
import { member } from "../testing/test_namespace.ts";
import { browser, PASSWORD, type PeopleWorld, refusal, testPeople, tokenOf, typed } from "./people_world.ts";

const MEMBERS = "/api/namespaces/acme/members";

async function outcome(
  { started }: PeopleWorld,
  method: string,
  path: string,
  request: ApiRequest,
): Promise<[number, string | undefined]> {
  const { status, body } = await started.request(method, path, request);
  return [status, body.code];
}

testPeople("members", {
  "an admin invites, and the answer alone has the link": async (world) => {
    const { started } = world;
    const { headers } = await signIn(started, { role: "admin" });
    const body = { email: "Ada@Example.COM", role: "editor" };
    const made = await started.request("POST", MEMBERS, { headers, body });
    assertEquals(made.status, 201);
    assertEquals([member(made, "email"), member(made, "state")], ["ada@example.com", "invited"]);
    const url = member(made, "inviteUrl");
    assert(url.startsWith(`${started.deps.baseUrl}/console/-/invite/pinv_`), url);
    const list = await started.request("GET", MEMBERS, { headers });
    assert(list.text.includes("ada@example.com"));
    assert(!list.text.includes("pinv_") && !list.text.includes("passwordHash"), list.text);
    for await (const entry of started.deps.kv.list({ prefix: [] })) {
      assert(!JSON.stringify([entry.key, entry.value]).includes(tokenOf(made)));
    }
    assert(!started.logLines.some((line) => line.includes("pinv_")));
  },

  "a namespace has as many members as it may, also when two are added at once": async (world) => {
    const { started } = world;
    const { deps: { kv, control, clock } } = started;
    await started.namespace("full");
    const { id: namespaceId } = await control.namespaces.bySlug("full") ?? { id: "" };
    const now = clock.now();
    const commit = kv.atomic();
    for (let number = 1; number < MAX_MEMBERS; number++) {
      commit.set(keys.member(namespaceId, newId("mem", now)), {
        ...{ id: newId("mem", now), namespaceId, email: `${number}@example.com`, name: null, role: "viewer" },
        ...{ passwordHash: null, epoch: 0, createdAt: now, joinedAt: null, vouched: false },
      });
    }
    await commit.commit();
    const add = (email: string) =>
      outcome(world, "POST", "/api/namespaces/full/members", {
        token: started.operatorKey,
        body: { email, role: "viewer" },
      });
    const both = await Promise.all([add("one@example.com"), add("other@example.com")]);
    assertEquals(both.map(([status]) => status).sort(), [201, 409]);
    assertEquals(await add("third@example.com"), [409, "too_many_members"]);
    await control.members.removeAll(namespaceId);
    assertEquals(await add("third@example.com"), [201, undefined]);
  },

  "an address has one member in a namespace, however it is spelled, and another one elsewhere": async (
    world,
  ) => {
    await world.invite("twice@example.com", "viewer");
    const token = world.started.operatorKey;
    const body = { email: "Twice@Example.com", role: "viewer" };
    assertEquals(await outcome(world, "POST", MEMBERS, { token, body }), [409, "member_exists"]);
    await world.invite("twice@example.com", "admin", "other");
  },

  "what is no address is told by an example, not by an expression": async ({ started }) => {
    for (const email of ["ada", "ada@shop.example,eve@shop.example", "ada@b\u00fccher.example"]) {
      const { status, body } = await started.request("POST", "/api/namespaces/acme/members", {
        token: started.operatorKey,
        body: { email, role: "viewer" },
      });
      const issues = [{ path: "email", message: "Send an address such as ada@example.com" }];
      assertEquals([status, body.issues], [400, issues], email);
    }
  },

  "a token makes viewers and editors; whatever concerns an admin takes a person": async (world) => {
    const { started } = world;
    const made = await started.request("POST", "/api/namespaces/acme/tokens", {
      token: started.operatorKey,
      body: { name: "agent", role: "admin" },
    });
    const agent = { token: member(made, "token") };
    const body = { email: "by-token@example.com", role: "viewer" };
    const viewer = await started.request("POST", MEMBERS, { ...agent, body });
    assertEquals(viewer.status, 201);
    const path = `${MEMBERS}/${member(viewer, "id")}`;
    const refused: readonly [string, string, ApiRequest][] = [
      ["POST", MEMBERS, { body: { email: "evil@example.com", role: "admin" } }],
      ["PATCH", path, { body: { role: "admin" } }],
    ];
    const admin = await world.join("an-admin@example.com", "admin");
    const adminPath = `${MEMBERS}/${admin.id}`;
    const ofAdmin: readonly [string, string, ApiRequest][] = [
      ["PATCH", adminPath, { body: { role: "viewer" } }],
      ["PATCH", adminPath, { body: { name: "Somebody else" } }],
      ["DELETE", adminPath, {}],
      ["POST", `${adminPath}/invite`, {}],
    ];
    for (const [method, where, request] of [...refused, ...ofAdmin]) {
      const found = await outcome(world, method, where, { ...agent, ...request });
      assertEquals(found, [403, "person_required"], `${method} ${where}`);
    }
    assertEquals(await outcome(world, "PATCH", path, { ...agent, body: { role: "editor" } }), [
      200,
      undefined,
    ]);
    assertEquals(await outcome(world, "POST", `${path}/invite`, agent), [200, undefined]);
    assertEquals(await outcome(world, "DELETE", path, agent), [200, undefined]);
  },

  "a link that a token has made lets no admin in, whoever is made admin meanwhile": async (world) => {
    const { started, people } = world;
    const operator = { token: started.operatorKey };
    const minted = await started.request("POST", "/api/namespaces/acme/tokens", {
      ...operator,
      body: { name: "agent", role: "admin" },
    });
    const agent = { token: member(minted, "token") };
    const invite = async (email: string) => {
      const made = await started.request("POST", MEMBERS, { ...agent, body: { email, role: "viewer" } });
      assertEquals(made.status, 201);
      return { path: `${MEMBERS}/${member(made, "id")}`, token: tokenOf(made) };
    };
    const promote = (path: string) =>
      started.request("PATCH", path, { ...operator, body: { role: "admin" } }).then((made) =>
        member(made, "state")
      );
    const waiting = await invite("promoted-early@example.com");
    assertEquals(await promote(waiting.path), "invited");
    const early = acceptLink(people, { token: waiting.token, password: PASSWORD, browser: browser() });
    assertEquals((await refusal(early))[0], "link_not_found");
    const inside = await invite("promoted-late@example.com");
    await acceptLink(people, { token: inside.token, password: PASSWORD, browser: browser() });
    assertEquals(await promote(inside.path), "invited");
    const late = signInByPassword(people, typed("promoted-late@example.com", PASSWORD));
    assertEquals((await refusal(late))[0], "sign_in_failed");
    const again = tokenOf(await started.request("POST", `${inside.path}/invite`, operator));
    await acceptLink(people, { token: again, password: PASSWORD, browser: browser() });
    await signInByPassword(people, typed("promoted-late@example.com", PASSWORD));
    // Who came by a person's link stays.
    const { id: vouched } = await world.join("vouched@example.com", "editor");
    assertEquals(await promote(`${MEMBERS}/${vouched}`), "active");
    // Made admin while a token asks to change it.
    const { members } = started.deps.control;
    const { id: raced } = await world.join("raced@example.com", "editor");
    const byId = members.byId.bind(members);
    members.byId = async (...of) => {
      members.byId = byId;
      const before = await byId(...of);
      await promote(`${MEMBERS}/${raced}`);
      return before;
    };
    const demoted = await outcome(world, "PATCH", `${MEMBERS}/${raced}`, {
      ...agent,
      body: { role: "viewer" },
    });
    assertEquals(demoted, [403, "person_required"]);
    const listed = await started.request("GET", MEMBERS, operator);
    assertMatch(listed.text, new RegExp(`"${raced}"[^}]*"role":"admin"`));
  },

  "changes of members take a sign-in of the last 15 minutes": async (world) => {
    const { headers } = await signIn(world.started, { role: "admin" });
    const { id } = await world.join("late@example.com", "viewer");
    world.clock.turn(HOUR_MS / 4);
    const path = `${MEMBERS}/${id}`;
    const body = { email: "late-2@example.com", role: "viewer" };
    assertEquals(await outcome(world, "POST", MEMBERS, { headers, body }), [403, "sign_in_again"]);
    for (
      const [method, where, more] of [["PATCH", path, { body: { role: "editor" } }], [
        "DELETE",
        path,
        {},
      ]] as const
    ) {
      assertEquals(await outcome(world, method, where, { headers, ...more }), [403, "sign_in_again"], method);
    }
    assertEquals(await outcome(world, "POST", `${path}/invite`, { headers }), [403, "sign_in_again"]);
    assertEquals((await world.started.request("GET", MEMBERS, { headers })).status, 200);
  },

  "the last admin neither leaves nor steps down, unless the operator says so": async (world) => {
    const { started } = world;
    const { namespace } = started;
    await namespace("lonely");
    const only = await signIn(started, { role: "admin", namespace: "lonely" });
    await world.invite("not-yet@example.com", "admin", "lonely");
    const path = `/api/namespaces/lonely/members/${only.id}`;
    const { headers } = only;
    assertEquals(await outcome(world, "DELETE", path, { headers }), [409, "last_admin"]);
    assertEquals(await outcome(world, "PATCH", path, { headers, body: { role: "viewer" } }), [
      409,
      "last_admin",
    ]);
    assertEquals(await outcome(world, "PATCH", path, { headers, body: { name: "Ada" } }), [200, undefined]);
    const byOperator = { token: started.operatorKey, body: { role: "viewer" } };
    assertEquals(await outcome(world, "PATCH", path, byOperator), [200, undefined]);
  },

  "of two admins who send each other away at once one stays": async (world) => {
    const { started } = world;
    await started.namespace("duel");
    const one = await signIn(started, { role: "admin", namespace: "duel" });
    const two = await signIn(started, { role: "admin", namespace: "duel" });
    const remove = (who: typeof one, whom: typeof two) =>
      started.request("DELETE", `/api/namespaces/duel/members/${whom.id}`, { headers: who.headers });
    const answers = await Promise.all([remove(one, two), remove(two, one)]);
    const left = await started.request("GET", "/api/namespaces/duel/members", { token: started.operatorKey });
    assertEquals(answers.filter(({ status }) => status === 200).length, 1);
    assertEquals([one, two].filter(({ id }) => left.text.includes(id)).length, 1);
  },

  "another role and the removal end every session at once, in other processes within 5 seconds": async (
    world,
  ) => {
    const { started, clock } = world;
    const boss = await signIn(started, { role: "admin" });
    for (const [method, more] of [["PATCH", { body: { role: "viewer" } }], ["DELETE", {}]] as const) {
      const { id, secret } = await world.join(`${method}@example.com`, "editor");
      const elsewhere = await findElsewhere(world, secret);
      assert(elsewhere !== null);
      const cookie = `cubby=${secret}`;
      assertEquals((await started.request("GET", MEMBERS, { headers: { cookie } })).status, 200);
      const changed = await started.request(method, `${MEMBERS}/${id}`, { headers: boss.headers, ...more });
      assertEquals(changed.status, 200, changed.text);
      assertEquals(await outcome(world, "GET", MEMBERS, { headers: { cookie } }), [401, "session_ended"]);
      clock.turn(4_500);
      assertEquals(await findElsewhere(world, secret), null);
    }
  },

  "a new link ends the one before, and whoever opens it starts afresh": async (world) => {
    const { people, started } = world;
    const { id, secret } = await world.join("lost@example.com", "viewer");
    const invite = () =>
      started.request("POST", `${MEMBERS}/${id}/invite`, { token: started.operatorKey }).then(tokenOf);
    const first = await invite();
    const second = await invite();
    assertEquals((await refusal(readLink(people, first)))[0], "link_not_found");
    // Until it is opened nothing has changed.
    const old = { namespaceSlug: "acme", email: "lost@example.com", password: PASSWORD };
    await signInByPassword(people, { ...old, browser: browser() });
    assertEquals((await readLink(people, second)).again, true);
    await acceptLink(people, { token: second, password: "a-new-start 5150 oak", browser: browser() });
    const wrong = await refusal(signInByPassword(people, { ...old, browser: browser() }));
    assertEquals(wrong[0], "sign_in_failed");
    const cookie = `cubby=${secret}`;
    assertEquals(await outcome(world, "GET", MEMBERS, { headers: { cookie } }), [401, "session_ended"]);
  },

  "nothing of the people of a namespace outlives it": async (world) => {
    const { started, people } = world;
    await started.namespace("gone");
    const { secret } = await world.join("last@example.com", "admin", "gone");
    const { token } = await world.invite("never@example.com", "viewer", "gone");
    const { id } = await started.deps.control.namespaces.bySlug("gone") ?? { id: "" };
    const body = { confirm: "gone" };
    const removal = await started.request("DELETE", "/api/namespaces/gone", {
      token: started.operatorKey,
      body,
    });
    assertEquals(removal.status, 200);
    const cookie = `cubby=${secret}`;
    assertEquals(
      await outcome(world, "GET", "/api/namespaces/gone", { headers: { cookie } }),
      [401, "session_ended"],
    );
    assertEquals((await refusal(readLink(people, token)))[0], "link_not_found");
    const left = await Array.fromAsync(started.deps.kv.list({ prefix: keys.members(id) }));
    assertEquals(left, []);
    for await (const entry of started.deps.kv.list({ prefix: [] })) {
      const text = JSON.stringify([entry.key, entry.value]);
      assert(!text.includes("last@example.com") && !text.includes("never@example.com"), text);
    }
  },
});

/** The session as another process knows it, from its cache. */
async function findElsewhere({ elsewhere }: PeopleWorld, secret: string) {
  const { authenticateSession } = await import("../../lib/access/authenticate_session.ts");
  return await authenticateSession(elsewhere, secret, { now: false });
}
