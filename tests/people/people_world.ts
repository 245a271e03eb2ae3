// One app for the tests of a file about people, with a clock that can be turned.
import { assert, assertEquals } from "@std/assert";
import type { AppError } from "../../lib/core/errors.ts";
import type { MemberRole } from "../../lib/core/role.ts";
import { acceptLink } from "../../lib/services/people/accept_link.ts";
import type { Browser, PeopleContext } from "../../lib/services/people/people_context.ts";
import type { PasswordSignIn } from "../../lib/services/people/sign_in.ts";
import { appDeps } from "../../routes/http/app_deps.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

export const PASSWORD = "river-cobalt-42 stone";
export const OTHER_PASSWORD = "lantern amber 77 moss";

export interface PeopleWorld {
  readonly started: StartedApp;
  readonly clock: TurnableClock;
  readonly people: PeopleContext;
  /** Another process on the same KV. */
  readonly elsewhere: PeopleContext;
  /** Invites by the operator; the last part of the link is beside the answer. */
  invite(email: string, role: MemberRole, namespace?: string): Promise<{ answer: ApiAnswer; token: string }>;
  /** A member with `PASSWORD`, and the secret of its first session. */
  join(email: string, role: MemberRole, namespace?: string): Promise<{ id: string; secret: string }>;
}

/** Runs the steps on one app with the namespaces `acme` and `other`. */
export function testPeople(
  name: string,
  steps: Readonly<Record<string, (world: PeopleWorld) => Promise<void>>>,
): void {
  Deno.test(name, async (t) => {
    const clock = new TurnableClock();
    await using started = await startApp({ clock });
    await started.namespace("acme");
    await started.namespace("other");
    const world = worldOf(started, clock);
    for (const [step, fn] of Object.entries(steps)) {
      await t.step({ name: step, fn: () => fn(world), sanitizeOps: false, sanitizeResources: false });
    }
  });
}

function worldOf(started: StartedApp, clock: TurnableClock): PeopleWorld {
  const { deps, request, operatorKey } = started;
  const invite: PeopleWorld["invite"] = async (email, role, namespace = "acme") => {
    const body = { email, role };
    const answer = await request("POST", `/api/namespaces/${namespace}/members`, {
      token: operatorKey,
      body,
    });
    assertEquals(answer.status, 201, answer.text);
    return { answer, token: tokenOf(answer) };
  };
  return {
    started,
    clock,
    people: deps.people,
    elsewhere: appDeps(deps).people,
    invite,
    join: async (email, role, namespace) => {
      const { answer, token } = await invite(email, role, namespace);
      const { secret } = await acceptLink(deps.people, { token, password: PASSWORD, browser: browser() });
      return { id: member(answer, "id"), secret };
    },
  };
}

/** The secret at the end of a link. */
export function tokenOf(answer: ApiAnswer): string {
  return member(answer, "inviteUrl").split("/").at(-1) ?? "";
}

let addresses = 0;

/** A browser with an address that nobody has had yet, so that no test counts against another. */
export function browser(more: Partial<Browser> = {}): Browser {
  return { address: `test:${++addresses}`, agent: "a test", replaced: null, ...more };
}

/** The code and message of what it throws. */
export async function refusal(work: Promise<unknown>): Promise<[code: string, message: string]> {
  try {
    await work;
  } catch (error) {
    assert(isAppError(error), String(error));
    return [error.code, error.message];
  }
  throw new Error("nothing was refused");
}

function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name === "AppError";
}

/** What a member of `acme` types at the sign-in. */
export function typed(email: string, password: string, address?: string): PasswordSignIn {
  const from = address === undefined ? {} : { address };
  return { namespaceSlug: "acme", email, password, browser: browser(from) };
}
