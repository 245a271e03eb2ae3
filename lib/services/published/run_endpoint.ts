// Steps 8 to 10 of an endpoint: what `/p` runs behind its gates, and what the management's test runs without them.
import { AppError, failureBody } from "../../core/errors.ts";
import type { QueryMeta, QueryTarget } from "../../query/query_call.ts";
import { jsonWithReals, PLAIN_ROWS, type RowForm } from "../../sql/words/row_form.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import type { EndpointRecord } from "../../store/records.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import type { StatementResult } from "../../tenant/tenant_store.ts";
import { bytesAsJson, bytesOf } from "./bytes_answer.ts";
import { answerQuestion } from "../ask/answer_question.ts";
import { outputs } from "../endpoints/spec/outputs.ts";
import { prepareSpec } from "../endpoints/spec/prepare_spec.ts";
import { type RawInput, validateInput } from "../endpoints/spec/validate_input.ts";
import { logIn, signUp } from "./auth_endpoints.ts";
import { changePassword } from "./change_password.ts";
import { decodeObject } from "./decode_input.ts";
import { logOut, refreshSession } from "./keep_session.ts";
import { fillSession } from "./open_session.ts";
import { endpointRole } from "./public_address.ts";
import { textIn } from "./input_values.ts";
import { listPage } from "./list_page.ts";
import { publicError } from "./public_error.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { resetPassword } from "./reset_password.ts";
import { runStored } from "./run_for_endpoint.ts";
import { underSession } from "./session_guard.ts";
import { verifyEmail } from "./verify_email.ts";

type RunKind = (
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
) => Promise<EndpointOutcome>;

/** Kinds that do more than to run the stored statement. */
const ownKinds: Readonly<Partial<Record<EndpointSpec["kind"], RunKind>>> = {
  auth_signup: signUp,
  auth_login: logIn,
  auth_password: changePassword,
  auth_logout: logOut,
  auth_refresh: refreshSession,
  auth_reset: resetPassword,
  auth_verify: verifyEmail,
  ask,
};

/**
 * Step 10. `bound` has a value for every field of `input`. Errors: those of the kind and of the pipeline, in the
 * words for the owner.
 */
export async function runKind(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  const { record: { spec }, session, rowForm } = call;
  const own = ownKinds[spec.kind];
  if (own !== undefined) return await own(ctx, call, bound);
  const userId = session?.userId ?? null;
  if (spec.list !== undefined) return { ...await listPage(ctx, call, { list: spec.list, bound }), userId };
  const { results, meta, replayed } = await runStored(ctx, call, bound, { rowForm });
  const last = results.at(-1);
  if (last === undefined) throw new TypeError("a statement has no result");
  const rowsWritten = results.reduce((sum, one) => sum + one.rowsWritten, 0);
  return { body: bodyOf(spec, { ...last, rowsWritten }), userId, meta, replayed: replayed !== null };
}

function bodyOf(spec: EndpointSpec, result: StatementResult): EndpointOutcome["body"] {
  if (spec.output === "bytes") return bytesOf(result);
  const { body } = outputs[spec.output];
  if (body === null) throw new TypeError("the output of a statement has no body");
  return body(result, spec.outputTypes);
}

async function ask(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  const { record: { spec }, target, session, tokenId, rowForm, signal } = call;
  const userId = session?.userId ?? null;
  let meta: QueryMeta | null = null;
  const answer = await underSession(
    ctx,
    call,
    (guard) =>
      answerQuestion({ ...ctx.query, askModel: ctx.askModel, tokenId, userId }, {
        target,
        spec,
        question: textIn(spec, bound, "question"),
        rowForm,
        signal,
        guard,
        ran: (figures) => meta = figures,
      }),
  );
  const { sql, columns, rows, explanation } = answer;
  return { body: jsonWithReals({ sql, columns, rows, explanation }), userId, meta };
}

/** A call that somebody makes to try an endpoint. */
export interface TestRun {
  readonly record: EndpointRecord;
  /** Where it runs; its role is replaced by the one that the endpoint has. */
  readonly target: QueryTarget;
  /** The body of a POST; for a GET strings are read as in a query string. */
  readonly input: unknown;
  /** What a session would say; null: the call comes without one. */
  readonly session: { readonly userId: string; readonly email?: string | null | undefined } | null;
  /** Who tests: stands in the query log. Unless given, the endpoint. */
  readonly tokenId?: string;
  readonly rowForm?: RowForm;
  readonly signal?: () => AbortSignal | null;
}

/** What such a call came to. */
export interface TestOutcome {
  readonly status: number;
  readonly body: unknown;
  /** The failure as its owner is told it, where strangers are told less. */
  readonly cause?: unknown;
}

/** Runs an endpoint of any status and answers what `/p` would; effects stay. Never throws an `AppError`. */
export async function runEndpoint(
  ctx: PublishedContext,
  { record, target, input, session, tokenId, rowForm, signal }: TestRun,
): Promise<TestOutcome> {
  const { spec } = record;
  const nowSec = Math.floor(ctx.clock.now() / 1000);
  const claims = session && {
    userId: session.userId,
    email: session.email ?? null,
    issuedSec: nowSec,
    beganSec: nowSec,
    expiresSec: nowSec,
    sessionId: "",
    epochMs: 0,
    generation: 0,
    users: null,
    passwordMark: null,
  };
  try {
    const prepared = prepareSpec(spec);
    const valid = validateInput(prepared, testInput(spec.method, input));
    if (spec.auth === "session" && claims === null) throw new AppError("session_required");
    const call = {
      record,
      target: { ...target, role: endpointRole(record) },
      session: spec.auth === "session" ? claims : null,
      tokenId: tokenId ?? endpointToken(record),
      replay: null,
      rowForm: rowForm ?? PLAIN_ROWS,
      client: "",
      signal: signal ?? (() => null),
    };
    const { body } = await runKind(ctx, call, fillSession(prepared, valid, call.session));
    return { status: 200, body: typeof body === "string" ? parsedBody(body) : bytesAsJson(spec, body) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const told = publicError(spec, error);
    const outcome = { status: told.status, body: failureBody(told) };
    return told === error ? outcome : { ...outcome, cause: failureBody(error) };
  }
}

/** The body as a JSON value: this module has written its text. */
function parsedBody(body: string): unknown {
  return JSON.parse(body);
}

/** Names the endpoint where statements of other surfaces name their API token. */
export function endpointToken({ spec }: EndpointRecord): string {
  return `endpoint:${spec.slug}`;
}

/** A query string holds texts only: a test's other values are written as text. */
function testInput(method: "GET" | "POST", input: unknown): RawInput {
  const { values } = decodeObject(input ?? {});
  if (method === "POST") return { form: "json", values };
  const texts = [...values].filter(([, value]) => value !== null)
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const);
  return { form: "text", values: new Map(texts) };
}
