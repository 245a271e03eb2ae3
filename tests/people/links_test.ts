// Links by which people come in: looking uses nothing up, coming in does, once, whoever else tries at the same moment.
import { assert, assertEquals } from "@std/assert";
import { DAY_MS, HOUR_MS } from "../../lib/core/clock.ts";
import { authenticateSession } from "../../lib/access/authenticate_session.ts";
import { newToken, tokenHash } from "../../lib/access/token_format.ts";
import { newId } from "../../lib/core/ids.ts";
import { START_LINK_MS } from "../../lib/core/limits.ts";
import { acceptLink, readLink } from "../../lib/services/people/accept_link.ts";
import { signInByPassword } from "../../lib/services/people/sign_in.ts";
import { signIn } from "../testing/person.ts";
import { member } from "../testing/test_namespace.ts";
import {
  browser,
  OTHER_PASSWORD,
  PASSWORD,
  type PeopleWorld,
  refusal,
  testPeople,
  typed,
} from "./people_world.ts";

/** As the first start makes it. */
async function startLink({ people }: PeopleWorld, namespaceSlug: string): Promise<string> {
  const namespace = await people.control.namespaces.bySlug(namespaceSlug);
  const token = newToken("pstart_");
  const now = people.clock.now();
  await people.control.links.addStart(tokenHash(token), {
    kind: "start",
    namespaceId: namespace?.id ?? "",
    memberId: newId("mem", now),
    byPerson: true,
    untilMs: now + START_LINK_MS,
  });
  return token;
}

testPeople("links", {
  "an invitation says whom it is for, however often it is looked at": async (world) => {
    const { token } = await world.invite("ada@example.com", "editor");
    for (let look = 0; look < 3; look++) {
      const { kind, namespaceSlug, role, email, again } = await readLink(world.people, token);
      assertEquals([kind, namespaceSlug, role, email, again], [
        "invitation",
        "acme",
        "editor",
        "ada@example.com",
        false,
      ]);
    }
    await acceptLink(world.people, { token, password: PASSWORD, browser: browser() });
  },

  "who comes in is signed in with the role of the invitation, and the link is used up": async (world) => {
    const { people, started } = world;
    const { token } = await world.invite("bea@example.com", "viewer");
    const input = { token, name: "Bea", password: PASSWORD, browser: browser() };
    const session = await acceptLink(people, input);
    const signedIn = await authenticateSession(people, session.secret, { now: false });
    assert(signedIn?.caller.kind === "member");
    assertEquals([signedIn.caller.email, signedIn.caller.role], ["bea@example.com", "viewer"]);
    assertEquals((await refusal(readLink(people, token)))[0], "link_not_found");
    assertEquals((await refusal(acceptLink(people, input)))[0], "link_not_found");
    const list = await started.request("GET", "/api/namespaces/acme/members", { token: started.operatorKey });
    const rows: { email: string; name: string; state: string }[] = JSON.parse(list.text).data;
    const bea = rows.find(({ email }) => email === "bea@example.com");
    assertEquals([bea?.name, bea?.state], ["Bea", "active"]);
  },

  "what can be no link is refused without asking the control plane": async ({ people }) => {
    const links = Object.create(people.control.links, {
      find: { value: () => Promise.reject(new TypeError("nobody asks")) },
    });
    const control = Object.create(people.control, { links: { value: links } });
    for (const junk of ["x", `pinv_${"0".repeat(38)}`]) {
      assertEquals((await refusal(readLink({ ...people, control }, junk)))[0], "link_not_found");
    }
  },

  "of many who use one invitation at once, in two processes, one comes in": async (world) => {
    const { people, elsewhere } = world;
    const { token } = await world.invite("raced@example.com", "admin");
    const passwords = Array.from({ length: 8 }, (_, at) => `${OTHER_PASSWORD} ${at}`);
    const outcomes = await Promise.allSettled(
      passwords.map((password, at) =>
        acceptLink(at % 2 === 0 ? people : elsewhere, { token, password, browser: browser() })
      ),
    );
    const won = outcomes.flatMap(({ status }, at) => status === "fulfilled" ? [at] : []);
    assertEquals(won.length, 1);
    for (const [at, password] of passwords.entries()) {
      const attempt = signInByPassword(people, typed("raced@example.com", password));
      if (at === won[0]) await attempt;
      else assertEquals((await refusal(attempt))[0], "sign_in_failed", String(at));
    }
  },

  "a weak password uses nothing up": async ({ people, ...world }) => {
    const { token } = await world.invite("weak@example.com", "viewer");
    const weak = await refusal(
      acceptLink(people, { token, password: "weak@example.com", browser: browser() }),
    );
    assertEquals(weak[0], "validation_failed");
    await acceptLink(people, { token, password: PASSWORD, browser: browser() });
  },

  "an invitation is over after 7 days, a start link after one": async (world) => {
    const { people, clock } = world;
    const { token } = await world.invite("late@example.com", "viewer");
    const start = await startLink(world, "acme");
    clock.turn(DAY_MS - HOUR_MS);
    assertEquals((await readLink(people, start)).kind, "start");
    clock.turn(HOUR_MS);
    assertEquals((await refusal(readLink(people, start)))[0], "link_not_found");
    clock.turn(6 * DAY_MS - HOUR_MS);
    await readLink(people, token);
    clock.turn(HOUR_MS);
    const input = { token, password: PASSWORD, browser: browser() };
    assertEquals((await refusal(acceptLink(people, input)))[0], "link_not_found");
  },

  "what is no link, and a link of a member who was removed, lead nowhere": async (world) => {
    const { people, started } = world;
    const { answer, token } = await world.invite("removed@example.com", "viewer");
    const path = `/api/namespaces/acme/members/${member(answer, "id")}`;
    assertEquals((await started.request("DELETE", path, { token: started.operatorKey })).status, 200);
    for (const one of [token, newToken("pinv_"), newToken("pstart_"), "", "../..", token.slice(0, -1)]) {
      assertEquals((await refusal(readLink(people, one)))[0], "link_not_found", one);
      const input = { token: one, password: PASSWORD, browser: browser() };
      assertEquals((await refusal(acceptLink(people, input)))[0], "link_not_found", one);
    }
  },

  "a start link makes one admin, whose address whoever comes first says": async (world) => {
    const { people } = world;
    const token = await startLink(world, "other");
    const { kind, role, email, namespaceSlug } = await readLink(people, token);
    assertEquals([kind, role, email, namespaceSlug], ["start", "admin", null, "other"]);
    const input = { token, password: PASSWORD, browser: browser() };
    assertEquals((await refusal(acceptLink(people, input)))[0], "validation_failed");
    const both = ["first@example.com", "second@example.com"].map((email) =>
      acceptLink(email.startsWith("first") ? people : world.elsewhere, { ...input, email })
    );
    const outcomes = await Promise.allSettled(both);
    assertEquals(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    const namespace = await people.control.namespaces.bySlug("other");
    const { records } = await people.control.members.list(namespace?.id ?? "", {
      cursor: null,
      pageSize: 10,
    });
    assertEquals(records.map(({ role }) => role), ["admin"]);
  },

  "a start link takes no address that has a member already": async (world) => {
    const { email } = await signIn(world.started, { role: "viewer" });
    const token = await startLink(world, "acme");
    const input = { token, email: (email ?? "").toUpperCase(), password: PASSWORD, browser: browser() };
    assertEquals((await refusal(acceptLink(world.people, input)))[0], "member_exists");
    await acceptLink(world.people, { ...input, email: "somebody-else@example.com" });
  },

  "a change of role while an invitation is open counts when it is accepted": async (world) => {
    const { people, started } = world;
    const { answer, token } = await world.invite("demoted@example.com", "admin");
    const path = `/api/namespaces/acme/members/${member(answer, "id")}`;
    const body = { role: "viewer" };
    assertEquals((await started.request("PATCH", path, { token: started.operatorKey, body })).status, 200);
    const { secret } = await acceptLink(people, { token, password: PASSWORD, browser: browser() });
    const signedIn = await authenticateSession(people, secret, { now: false });
    assert(signedIn?.caller.kind === "member");
    assertEquals(signedIn.caller.role, "viewer");
  },
});
