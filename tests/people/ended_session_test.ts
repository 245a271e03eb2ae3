// What a request may still do whose session has ended since it was let in.
import { assert, assertEquals } from "@std/assert";
import { authenticateSession } from "../../lib/access/authenticate_session.ts";
import { acceptLink } from "../../lib/services/people/accept_link.ts";
import { changePassword } from "../../lib/services/people/own_account.ts";
import { signInByPassword } from "../../lib/services/people/sign_in.ts";
import { addPasskey, beginPasskey, listPasskeys } from "../../lib/services/people/use_passkeys.ts";
import { SoftwarePasskey } from "../testing/software_passkey.ts";
import { member } from "../testing/test_namespace.ts";
import {
  browser,
  OTHER_PASSWORD,
  PASSWORD,
  type PeopleWorld,
  refusal,
  testPeople,
  tokenOf,
  typed,
} from "./people_world.ts";

const MEMBERS = "/api/namespaces/acme/members";

/** A viewer who came in by the link of a token, with a request that has been let in. */
async function letIn({ started, people }: PeopleWorld, email: string) {
  const operator = { token: started.operatorKey };
  const body = { name: "agent", role: "admin" };
  const minted = await started.request("POST", "/api/namespaces/acme/tokens", { ...operator, body });
  const invited = await started.request("POST", MEMBERS, {
    token: member(minted, "token"),
    body: { email, role: "viewer" },
  });
  const input = { token: tokenOf(invited), password: PASSWORD, browser: browser() };
  const { secret } = await acceptLink(people, input);
  const signedIn = await authenticateSession(people, secret, { now: true });
  assert(signedIn?.caller.kind === "member");
  const path = `${MEMBERS}/${member(invited, "id")}`;
  const promote = () => started.request("PATCH", path, { ...operator, body: { role: "admin" } });
  return { ctx: { ...people, caller: signedIn.caller }, promote };
}

testPeople("a member who becomes an admin while a request of the session before is under way", {
  "gets no password by it": async (world) => {
    const { people } = world;
    const { ctx, promote } = await letIn(world, "password@example.com");
    assertEquals((await promote()).status, 200);
    const change = changePassword(ctx, { password: OTHER_PASSWORD, browser: browser() });
    assertEquals((await refusal(change))[0], "session_ended");
    const after = signInByPassword(people, typed("password@example.com", OTHER_PASSWORD));
    assertEquals((await refusal(after))[0], "sign_in_failed");
  },

  "gets no passkey by it": async (world) => {
    const { ctx, promote } = await letIn(world, "passkey@example.com");
    const device = await SoftwarePasskey.in({ origin: "http://localhost", rpId: "localhost" });
    const answer = await device.make(await beginPasskey(ctx));
    assertEquals((await promote()).status, 200);
    assertEquals((await refusal(addPasskey(ctx, { name: "Laptop", answer })))[0], "session_ended");
    assertEquals(await listPasskeys(ctx), []);
  },
});
