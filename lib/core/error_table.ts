// The one closed table of failures: the documentation lists it, and every failed answer is made from it.
import { oauthErrors } from "./oauth_errors.ts";
import { peopleErrors } from "./people_errors.ts";
import { publishedErrors } from "./published_errors.ts";
import { storeErrors } from "./store_errors.ts";
import { transferErrors } from "./transfer_errors.ts";

/** One failure. */
export interface ErrorRow {
  readonly status: number;
  readonly message: string;
  /** The same call can succeed later without being changed. */
  readonly retryable?: true;
  /** Seconds for `Retry-After`; absent where the answer has no such header. */
  readonly retryAfterSec?: number;
}

/** Code → status, message and whether a retry can help. The documentation's table is tested against it. */
export const errorTable = {
  invalid_json: { status: 400, message: "Send the body as JSON; it could not be parsed" },
  validation_failed: { status: 400, message: "Validation failed" },
  sql_error: { status: 400, message: "The statement failed" },
  multiple_statements: { status: 400, message: "Send one statement; use batch for several" },
  no_statement: { status: 400, message: "Send one statement; the text holds none" },
  statement_timeout: {
    status: 400,
    message: "Make the statement cheaper; it ran longer than the time limit",
  },
  result_too_large: { status: 400, message: "Ask for less with LIMIT; the result is above the limit" },
  too_many_affected: {
    status: 400,
    message: "Narrow the statement; it affects more rows than it may and nothing was kept",
  },
  trunk_required: { status: 400, message: "Address the trunk; a branch has no branches of its own" },
  merge_refused: { status: 400, message: "Change the branch or the trunk first; this cannot be merged" },
  missing_bearer: { status: 401, message: "Send an API token as Authorization: Bearer" },
  invalid_bearer: { status: 401, message: "Send a valid API token; this one is unknown, revoked or expired" },
  balance_exhausted: { status: 402, message: "Add credit; the prepaid balance is exhausted" },
  monthly_cap_reached: {
    status: 402,
    message: "Raise the monthly cap or wait for the next month; the cap is reached",
  },
  namespace_mismatch: { status: 403, message: "Token namespace mismatch" },
  out_of_scope: { status: 403, message: "Use a token whose scopes list this database and branch" },
  role_too_low: { status: 403, message: "Use a token with a higher role" },
  statement_refused: { status: 403, message: "This statement is not available to any role" },
  approval_required: {
    status: 403,
    message: "Have a person approve this write, then redeem the approval token",
  },
  rule_denied: { status: 403, message: "A rule of this database forbids this write" },
  approval_denied: { status: 403, message: "A person or a rule has denied this write" },
  not_yours: { status: 403, message: "Use the token and the database that this was issued to" },
  handoff_too_deep: {
    status: 403,
    message: "Use a token that was passed on less often; this one cannot be handed off again",
  },
  operator_required: { status: 403, message: "Use the operator key for this call" },
  not_found: { status: 404, message: "Nothing is at this address" },
  namespace_not_found: { status: 404, message: "Check the name; there is no such namespace" },
  database_not_found: { status: 404, message: "Check the name; the namespace has no such database" },
  branch_not_found: {
    status: 404,
    message: "Make it with claim_branch, or check its name; the branch is unknown, expired or deleted",
  },
  snapshot_not_found: {
    status: 404,
    message: "Choose a label that GET snapshots lists; this one is unknown or expired",
  },
  execution_not_found: {
    status: 404,
    message: "Propose again; this execution token is unknown, used or expired",
  },
  approval_not_found: { status: 404, message: "Ask again; this approval is unknown, used or expired" },
  account_not_found: {
    status: 404,
    message: "Send the address of an account; the users table has none for this one",
  },
  revision_not_found: { status: 404, message: "Check the number; the endpoint has no such revision" },
  rule_not_found: { status: 404, message: "Check the id; the database has no such rule" },
  token_not_found: { status: 404, message: "Check the id; the namespace has no such token" },
  handoff_not_found: {
    status: 404,
    message: "Ask for a new handoff token; this one is unknown, used or expired",
  },
  method_not_allowed: { status: 405, message: "Use a method that the Allow header lists" },
  request_timeout: {
    status: 408,
    message: "Send the whole body faster; it did not arrive in time",
    retryable: true,
  },
  replay_running: {
    status: 409,
    message: "Try again shortly; the first request with this key is still running",
    retryable: true,
    retryAfterSec: 1,
  },
  nothing_to_undo: { status: 409, message: "Restore a snapshot instead; this has no undo" },
  approval_pending: {
    status: 409,
    message: "Wait for a person's decision; this write is not approved yet",
    retryable: true,
    retryAfterSec: 5,
  },
  approval_decided: {
    status: 409,
    message: "Look at it again; this approval has been decided or has expired",
  },
  effect_changed: {
    status: 409,
    message: "Have a person look again; what the write would do, or the rule that holds it, has changed",
  },
  endpoint_status: { status: 409, message: "Read the endpoint first; its status does not allow this" },
  too_many_branches: {
    status: 409,
    message: "Delete a branch or let one expire; this database has as many as it may",
  },
  too_many_endpoints: {
    status: 409,
    message: "Delete an endpoint first, or shorten it; those of this database are as much as they may be",
  },
  slug_taken: { status: 409, message: "Choose another slug; this one is taken" },
  merge_conflict: { status: 409, message: "Choose onConflict theirs or ours; both sides changed the same" },
  payload_too_large: { status: 413, message: "Send a smaller body" },
  replay_mismatch: { status: 422, message: "Use a new key; this one belongs to another request" },
  too_many_requests: {
    status: 429,
    message: "Slow down; this address sends too many requests",
    retryable: true,
    retryAfterSec: 10,
  },
  too_many_approvals: {
    status: 429,
    message:
      "Have those decided and redeemed that wait; this token or database has as many approvals as it may, or its namespace such large ones",
    retryable: true,
    retryAfterSec: 60,
  },
  meter_unreachable: {
    status: 429,
    message: "Try again shortly; the control plane did not answer and nothing ran",
    retryable: true,
    retryAfterSec: 2,
  },
  internal: { status: 500, message: "Internal error; report the request id", retryable: true },
  ...storeErrors,
  shutting_down: {
    status: 503,
    message: "Try again shortly; the service is stopping",
    retryable: true,
    retryAfterSec: 1,
  },
  follower_limit: {
    status: 429,
    message: "Follow the changes by one connection for many users; as many follow as there may be",
    retryable: true,
    retryAfterSec: 5,
  },
  ticket_not_found: { status: 404, message: "Get a new ticket; this one is unknown, used or expired" },
  webhook_not_found: { status: 404, message: "Check the id; the database has no such webhook" },
  webhooks_busy: {
    status: 429,
    message: "Try again shortly; as many messages to receivers are under way as may be",
    retryable: true,
    retryAfterSec: 5,
  },
  migration_loses_rows: {
    status: 400,
    message: "Delete rows by a DELETE of their table; the migration would lose rows that it does not name",
  },
  migration_changed: {
    status: 409,
    message: "Put the file back as it was and write a new one; it was applied with another content",
  },
  migration_out_of_order: {
    status: 409,
    message:
      "Give the file a name behind those that are applied; files are applied in the order of their names",
  },
  origin_refused: {
    status: 403,
    message: "Call from a page of this service, or have the operator add the page's origin to MCP_ORIGINS",
  },
  ...oauthErrors,
  ...peopleErrors,
  ...publishedErrors,
  transaction_held: {
    status: 403,
    message: "Send the whole transaction as one batch; a rule has a person approve this write first",
  },
  transaction_timeout: {
    status: 409,
    message: "Begin again; the transaction was ended and nothing of it was kept",
  },
  transaction_limit: {
    status: 429,
    message: "End a transaction first; this token or this database has as many open as it may",
    retryable: true,
    retryAfterSec: 1,
  },
  ...transferErrors,
  baton_invalid: {
    status: 400,
    message: "Open a new stream with baton null; this baton is used, or of another token or database",
  },
  stream_expired: { status: 400, message: "Open a new stream; this one is closed, or its process has ended" },
  database_not_named: {
    status: 404,
    message: "End the URL with /hrana/<namespace>/<database>/ and its slash; this token reaches several",
  },
  socket_unavailable: {
    status: 426,
    message: "Write https or http instead of wss or ws in the URL; this Deno cannot keep a socket open here",
  },
} as const satisfies Record<string, ErrorRow>;
