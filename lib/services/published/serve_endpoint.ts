// One call of a published endpoint: its eleven steps in order.
import { hash } from "node:crypto";
import { roundMs } from "../../core/clock.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { QueryMeta } from "../../query/query_call.ts";
import type { EndpointCallRow } from "../../tenant/endpoint_call_row.ts";
import { prepareSpec } from "../endpoints/spec/prepare_spec.ts";
import { validateInput } from "../endpoints/spec/validate_input.ts";
import { bytesHeaders } from "./bytes_answer.ts";
import { checkCaptcha, checkMethod, checkStatus, corsHeaders, preflight, takeRate } from "./check_gates.ts";
import { decodePost, decodeQuery, refuseUnheard } from "./decode_input.ts";
import { fillSession, openSession, underOpenSession } from "./open_session.ts";
import { replayOf } from "./replay_key.ts";
import { resolveEndpoint } from "./public_address.ts";
import { publicError } from "./public_error.ts";
import type {
  EndpointOutcome,
  PublishedAnswer,
  PublishedContext,
  PublishedRequest,
  ResolvedEndpoint,
} from "./published_context.ts";
import { endpointToken, runKind } from "./run_endpoint.ts";

/** What the steps have found out so far, for the headers and the record of a call that fails later. */
interface Progress {
  headers: Record<string, string>;
  userId: string | null;
}

/**
 * Serves the call and records it. Errors: every code of the steps, with the headers that the answer still carries.
 */
export async function serveEndpoint(
  ctx: PublishedContext,
  request: PublishedRequest,
): Promise<PublishedAnswer> {
  const startedMs = ctx.clock.monotonicMs();
  const resolved = await resolveEndpoint(ctx, request);
  if (request.method === "OPTIONS") return preflight(resolved, request);
  const hashed = addressHash(ctx, resolved, request);
  const ipHash = typeof hashed === "string" ? hashed : await hashed;
  const progress: Progress = { headers: corsHeaders(resolved, request), userId: null };
  const figures = { startedMs, ipHash };
  try {
    const outcome = await passSteps(ctx, request, { resolved, client: ipHash, progress });
    const answer = answerOf(resolved.record.spec, request, { outcome, headers: progress.headers });
    const { meta, userId } = outcome;
    recordCall(ctx, resolved, { ...figures, httpStatus: answer.status, meta, userId });
    return answer;
  } catch (error) {
    const failure = error instanceof AppError ? error : new AppError("internal", { unexpected: error });
    const told = publicError(resolved.record.spec, failure);
    const { status: httpStatus, code } = told;
    recordCall(ctx, resolved, { ...figures, httpStatus, code, failure, userId: progress.userId });
    const thrown = failure === error ? told : failure;
    throw thrown.with({ headers: { ...progress.headers, ...thrown.facts.headers } });
  }
}

interface Way {
  readonly resolved: ResolvedEndpoint;
  readonly client: string;
  readonly progress: Progress;
}

/** Steps 3 to 10. */
async function passSteps(
  ctx: PublishedContext,
  request: PublishedRequest,
  { resolved, client, progress }: Way,
): Promise<EndpointOutcome> {
  const { record, target } = resolved;
  checkStatus(resolved);
  checkMethod(resolved, request.method);
  Object.assign(progress.headers, await takeRate(ctx, resolved, client));
  await checkCaptcha(ctx, resolved, request.headers);
  refuseUnheard(record.spec, request);
  const prepared = prepareSpec(record.spec);
  const input = record.spec.method === "GET" ? decodeQuery(request.url) : await decodePost(prepared, request);
  const rowForm = request.rowForm();
  const valid = validateInput(prepared, input);
  const session = await openSession(ctx, resolved, request.headers);
  progress.userId = session?.userId ?? null;
  const bound = fillSession(prepared, valid, session);
  const tokenId = endpointToken(record);
  const replay = replayOf(resolved, request, { session, values: valid, rowForm });
  return await runKind(
    underOpenSession(ctx, { target, session }),
    { record, target, session, tokenId, replay, rowForm, client, signal: request.signal },
    bound,
  );
}

/** No page can run or frame the answer. `nosniff` for GET is set by the middleware of all routes. */
const securityHeaders = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

function answerOf(
  spec: EndpointSpec,
  request: PublishedRequest,
  { outcome: { body, replayed }, headers }: {
    readonly outcome: EndpointOutcome;
    readonly headers: Record<string, string>;
  },
): PublishedAnswer {
  const own = spec.output === "bytes" ? bytesHeaders(spec) : { "content-type": "application/json" };
  Object.assign(headers, securityHeaders);
  if (spec.method !== "GET") {
    if (replayed) headers["idempotency-replayed"] = "true";
    Object.assign(headers, own);
    headers["x-content-type-options"] = "nosniff";
    headers["cache-control"] = "no-store";
    return { status: 200, headers, body };
  }
  const etag = `W/"${hash("sha1", body, "base64url")}"`;
  headers["etag"] = etag;
  headers["cache-control"] = cacheControl(spec);
  // A cache that may not store the answer asks by its ETag each time, and the ETag depends on the form of integers.
  if (headers["cache-control"].startsWith("public")) {
    headers["vary"] = headers["vary"] === undefined ? "X-Integers" : `${headers["vary"]}, X-Integers`;
  }
  if (matches(request.headers.get("if-none-match"), etag)) return { status: 304, headers, body: null };
  Object.assign(headers, own);
  return { status: 200, headers, body };
}

/** What a session sees is for nobody else, and what a captcha guards costs a captcha each time. */
function cacheControl({ kind, auth, captcha, cacheSec }: EndpointSpec): string {
  if (auth === "session" || captcha === true || kind !== "query") return "no-store";
  return cacheSec === undefined || cacheSec === 0 ? "no-cache" : `public, max-age=${cacheSec}`;
}

/** Weak comparison (RFC 9110, section 8.8.3.2). */
function matches(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const opaque = etag.slice(2);
  return ifNoneMatch.split(",").some((one) =>
    one.trim() === "*" || one.trim().replace(/^W\//, "") === opaque
  );
}

function addressHash(
  { hashes }: Pick<PublishedContext, "hashes">,
  { record }: ResolvedEndpoint,
  { address: { high, low } }: PublishedRequest,
): string | Promise<string> {
  const hashed = hashes.ofFrequent("address", record.databaseId, `${high}:${low}`);
  return typeof hashed === "string" ? hashed.slice(0, 32) : hashed.then((value) => value.slice(0, 32));
}

/** What is recorded about a call. */
interface CallFigures {
  readonly httpStatus: number;
  /** Monotonic time at which the call began. */
  readonly startedMs: number;
  /** Figures of a call that was answered. */
  readonly meta?: QueryMeta | null;
  /** Why a call failed, in the words for the owner, and the code that its caller was told. */
  readonly failure?: AppError;
  readonly code?: string;
  readonly userId: string | null;
  readonly ipHash: string;
}

/**
 * Step 11: writes one row for each call into the tenant's own `_service_meta_endpoint_call`. Equal refusals of a
 * minute share a row. Never fails and never waits. The next statement that reads the log sees the row.
 */
function recordCall(
  { query, clock, refusals }: Pick<PublishedContext, "query" | "clock" | "refusals">,
  { record, target }: ResolvedEndpoint,
  { httpStatus, startedMs, meta, failure, code, userId, ipHash }: CallFigures,
): void {
  const database = query.tenants.open(target);
  const ts = clock.now();
  const hits = failure?.facts.extra?.["hits"];
  const row: EndpointCallRow = {
    id: newId("evt", ts),
    ts,
    endpoint: record.spec.slug,
    status: httpStatus < 400 ? "ok" : "error",
    httpStatus,
    rowsRead: meta?.rowsRead ?? 0,
    rowsWritten: meta?.rowsWritten ?? 0,
    durationMs: roundMs(clock.monotonicMs() - startedMs),
    userId,
    ipHash,
    code: code ?? null,
    hits: hits === undefined ? null : JSON.stringify(hits),
    count: 1,
  };
  database.recordEndpointCall(failure === undefined ? row : refusals.fold(target.databaseId, row));
}
