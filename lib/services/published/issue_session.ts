// The session that sign-up and log-in answer with, and their inputs by name.
import { EMAIL_COLUMN, mintSession } from "../../access/mint_session.ts";
import { isoTime } from "../../core/clock.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import { noKey } from "../endpoints/spec/users_table.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { readEmail, readUsers } from "./read_users.ts";

/** Seconds that a session lives unless the specification says otherwise. */
const DEFAULT_TTL_SEC = 86_400;

/**
 * `key` is the user's primary key as the engine gave it. The claim `email` is what the users table has for that key; the
 * session ends when the table has another. Errors: `sql_error` for a value that is no key, those of the pipeline.
 */
export async function issueSession(
  ctx: Pick<PublishedContext, "control" | "query">,
  call: EndpointCall,
  key: unknown,
): Promise<{ readonly body: string; readonly userId: string }> {
  if ((typeof key !== "string" && typeof key !== "number") || key === "") throw noKey();
  const userId = String(key);
  const email = await readEmail(ctx, call, key);
  const { authConfig } = call.record.spec;
  const lifetimeSec = authConfig?.sessionTtlSec ?? DEFAULT_TTL_SEC;
  const { table } = await readUsers(ctx, call);
  const users = { table, emailColumn: authConfig?.emailColumn ?? EMAIL_COLUMN };
  const session = await mintSession(ctx.control, call.target, {
    userId,
    lifetimeSec,
    users,
    ...(email === null ? {} : { email }),
  });
  if (session === null) throw new AppError("endpoint_not_found");
  const body = JSON.stringify({ token: session.jwt, expiresAt: isoTime(session.expiresAtMs) });
  return { body, userId };
}

/** Index of a field in `input`, -1 where there is none. */
export function inputIndex(spec: EndpointSpec, name: "email" | "password"): number {
  return spec.input.findIndex((field) => field.name === name);
}

/** The text of such a field. Empty where it is absent, which the validator of specifications rules out. */
export function textAt(
  spec: EndpointSpec,
  bound: readonly SqlParameter[],
  name: "email" | "password",
): string {
  const value = bound[inputIndex(spec, name)];
  return typeof value === "string" ? value : "";
}
