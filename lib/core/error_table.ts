// The one closed table of failures: the documentation lists it, and every failed answer is made from it.
import { changesErrors } from "./changes_errors.ts";
import { doorErrors } from "./door_errors.ts";
import { oauthErrors } from "./oauth_errors.ts";
import { hranaErrors } from "./hrana_errors.ts";
import { migrationErrors } from "./migration_errors.ts";
import { peopleErrors } from "./people_errors.ts";
import { publishedErrors } from "./published_errors.ts";
import { storeErrors } from "./store_errors.ts";
import { transactionErrors } from "./transaction_errors.ts";
import { transferErrors } from "./transfer_errors.ts";

/** One failure. */
export interface ErrorRow {
  readonly status: number;
  readonly message: string;
  /** Whether the same call can succeed later without being changed. */
  readonly retryable: boolean;
  /** Seconds for `Retry-After`; absent where the answer has no such header. */
  readonly retryAfterSec?: number;
}

/** Code → status, message and whether a retry can help. The documentation's table is tested against it. */
export const errorTable = {
  invalid_json: { status: 400, message: "Send the body as JSON; it could not be parsed", retryable: false },
  validation_failed: { status: 400, message: "Validation failed", retryable: false },
  sql_error: { status: 400, message: "The statement failed", retryable: false },
  multiple_statements: {
    status: 400,
    message: "Send one statement; use batch for several",
    retryable: false,
  },
  no_statement: { status: 400, message: "Send one statement; the text holds none", retryable: false },
  statement_timeout: {
    status: 400,
    message: "Make the statement cheaper; it ran longer than the time limit",
    retryable: false,
  },
  result_too_large: {
    status: 400,
    message: "Ask for less with LIMIT; the result is above the limit",
    retryable: false,
  },
  too_many_affected: {
    status: 400,
    message: "Narrow the statement; it affects more rows than it may and nothing was kept",
    retryable: false,
  },
  trunk_required: {
    status: 400,
    message: "Address the trunk; a branch has no branches of its own",
    retryable: false,
  },
  merge_refused: {
    status: 400,
    message: "Change the branch or the trunk first; this cannot be merged",
    retryable: false,
  },
  missing_bearer: { status: 401, message: "Send an API token as Authorization: Bearer", retryable: false },
  invalid_bearer: {
    status: 401,
    message: "Send a valid API token; this one is unknown, revoked or expired",
    retryable: false,
  },
  balance_exhausted: {
    status: 402,
    message: "Add credit; the prepaid balance is exhausted",
    retryable: false,
  },
  monthly_cap_reached: {
    status: 402,
    message: "Raise the monthly cap or wait for the next month; the cap is reached",
    retryable: false,
  },
  namespace_mismatch: { status: 403, message: "Token namespace mismatch", retryable: false },
  out_of_scope: {
    status: 403,
    message: "Use a token whose scopes list this database and branch",
    retryable: false,
  },
  role_too_low: { status: 403, message: "Use a token with a higher role", retryable: false },
  statement_refused: {
    status: 403,
    message: "This statement is not available to any role",
    retryable: false,
  },
  approval_required: {
    status: 403,
    message: "Have a person approve this write, then redeem the approval token",
    retryable: false,
  },
  rule_denied: { status: 403, message: "A rule of this database forbids this write", retryable: false },
  approval_denied: { status: 403, message: "A person or a rule has denied this write", retryable: false },
  not_yours: {
    status: 403,
    message: "Use the token and the database that this was issued to",
    retryable: false,
  },
  handoff_too_deep: {
    status: 403,
    message: "Use a token that was passed on less often; this one cannot be handed off again",
    retryable: false,
  },
  operator_required: { status: 403, message: "Use the operator key for this call", retryable: false },
  not_found: { status: 404, message: "Nothing is at this address", retryable: false },
  namespace_not_found: { status: 404, message: "Namespace not found", retryable: false },
  database_not_found: {
    status: 404,
    message: "Check the name; the namespace has no such database",
    retryable: false,
  },
  branch_not_found: {
    status: 404,
    message: "Make it with claim_branch, or check its name; the branch is unknown, expired or deleted",
    retryable: false,
  },
  snapshot_not_found: {
    status: 404,
    message: "Choose a label that GET snapshots lists; this one is unknown or expired",
    retryable: false,
  },
  execution_not_found: {
    status: 404,
    message: "Propose again; this execution token is unknown, used or expired",
    retryable: false,
  },
  approval_not_found: {
    status: 404,
    message: "Ask again; this approval is unknown, used or expired",
    retryable: false,
  },
  account_not_found: {
    status: 404,
    message: "Send the address of an account; the users table has none for this one",
    retryable: false,
  },
  revision_not_found: { status: 404, message: "Revision not found", retryable: false },
  rule_not_found: { status: 404, message: "Rule not found", retryable: false },
  token_not_found: { status: 404, message: "Token not found", retryable: false },
  handoff_not_found: {
    status: 404,
    message: "Ask for a new handoff token; this one is unknown, used or expired",
    retryable: false,
  },
  method_not_allowed: { status: 405, message: "Use a method that the Allow header lists", retryable: false },
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
  nothing_to_undo: { status: 409, message: "Restore a snapshot instead; this has no undo", retryable: false },
  approval_pending: {
    status: 409,
    message: "Wait for a person's decision; this write is not approved yet",
    retryable: true,
    retryAfterSec: 5,
  },
  approval_decided: {
    status: 409,
    message: "Look at it again; this approval has been decided or has expired",
    retryable: false,
  },
  effect_changed: {
    status: 409,
    message: "Have a person look again; what the write would do, or the rule that holds it, has changed",
    retryable: false,
  },
  endpoint_status: {
    status: 409,
    message: "Read the endpoint first; its status does not allow this",
    retryable: false,
  },
  too_many_branches: {
    status: 409,
    message: "Delete a branch or let one expire; this database has as many as it may",
    retryable: false,
  },
  slug_taken: { status: 409, message: "Choose another slug; this one is taken", retryable: false },
  merge_conflict: {
    status: 409,
    message: "Choose onConflict theirs or ours; both sides changed the same",
    retryable: false,
  },
  payload_too_large: { status: 413, message: "Send a smaller body", retryable: false },
  replay_mismatch: {
    status: 422,
    message: "Use a new key; this one belongs to another request",
    retryable: false,
  },
  too_many_requests: {
    status: 429,
    message: "Slow down; this address sends too many requests",
    retryable: true,
    retryAfterSec: 10,
  },
  too_many_approvals: {
    status: 429,
    message: "Have those decided and redeemed that wait; this database has as many approvals as it may",
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
  ...changesErrors,
  ...migrationErrors,
  ...doorErrors,
  ...oauthErrors,
  ...peopleErrors,
  ...publishedErrors,
  ...transactionErrors,
  ...transferErrors,
  ...hranaErrors,
} as const satisfies Record<string, ErrorRow>;
