// People for tests: a member of a namespace, or the operator, with a session as a browser would send it.
import { openPersonSession } from "../../lib/services/people/open_person_session.ts";
import { newId } from "../../lib/core/ids.ts";
import type { MemberRole } from "../../lib/core/role.ts";
import type { SessionOwner } from "../../lib/store/people_records.ts";
import { sessionCookieName } from "../../routes/http/session_cookie.ts";
import type { StartedApp } from "./start_app.ts";

export interface TestPerson {
  /** `mem_…`, or `operator`. */
  readonly id: string;
  readonly email: string | null;
  readonly sessionId: string;
  /** The cookie's value. */
  readonly secret: string;
  /** `Cookie` of a request. */
  readonly cookie: string;
  readonly csrfToken: string;
  /** Headers of a request that changes something: cookie, origin and the session's word. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Whom to sign in. A member is made for it, of the namespace `acme` unless told otherwise. */
export type Who = { readonly role: "operator" } | {
  readonly role: MemberRole;
  readonly namespace?: string;
  readonly email?: string;
};

/** A person who has just signed in. */
export async function signIn(started: StartedApp, who: Who): Promise<TestPerson> {
  const { deps } = started;
  const member = who.role === "operator" ? null : await addMember(started, who);
  const owner: SessionOwner = member === null
    ? { kind: "operator" }
    : { kind: "member", namespaceId: member.namespaceId, memberId: member.id };
  const session = await openPersonSession(deps, {
    owner,
    provedEpoch: member?.epoch ?? null,
    agent: "a test",
    replaced: null,
  });
  const cookie = `${sessionCookieName(deps.baseUrl)}=${session.secret}`;
  return {
    id: member?.id ?? "operator",
    email: member?.email ?? null,
    sessionId: session.sessionId,
    secret: session.secret,
    cookie,
    csrfToken: session.csrfToken,
    headers: { cookie, origin: new URL(deps.baseUrl).origin, "x-csrf-token": session.csrfToken },
  };
}

async function addMember({ deps }: StartedApp, who: Exclude<Who, { role: "operator" }>) {
  const { control, clock } = deps;
  const namespace = await control.namespaces.bySlug(who.namespace ?? "acme");
  if (namespace === null) throw new Error("make the namespace before its members");
  const now = clock.now();
  const id = newId("mem", now);
  const record = {
    id,
    namespaceId: namespace.id,
    email: who.email ?? `${id.slice(-8).toLowerCase()}@example.com`,
    name: null,
    role: who.role,
    passwordHash: null,
    // As of one who has changed before: nobody is to be taken for new.
    epoch: 3,
    createdAt: now,
    joinedAt: now,
    vouched: true,
  };
  const { ok } = await control.members.add(record);
  if (!ok) throw new Error("this address has a member already");
  return record;
}
