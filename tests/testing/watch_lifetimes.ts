// What of KV ends by itself, and what never does, as `lib/store/keys.ts` says it of each kind of record. A lifetime that is left
// out fills the disk of an installation in months, and one too many takes away what is paid for: no other test would see either.

const FOR_EVER = [
  ...["namespace", "namespace_by_slug", "balance", "credit", "usage"],
  ...["database", "database_by_slug", "deleted_database", "branch", "branches_added", "branch_by_id"],
  ...["endpoint", "endpoint_characters", "endpoint_revision", "rule", "rules_added"],
  ...["webhook", "webhooks_added", "webhook_state"],
  ...["member", "member_by_email", "admins_lost", "members_added", "passkey", "passkey_by_credential"],
  ...["leftover", "hash_secret", "operator_key_hash", "first_start"],
];
const FOR_A_TIME = [
  ...[
    "approval",
    "approval_by_hash",
    "newest_approval",
    "open_approval",
    "open_approval_of",
    "approvals_added",
  ],
  ...["waiting_approval", "approvals_changed", "execution", "held_piece", "replay", "replay_piece"],
  ...["handoff", "handoffs_minted", "oauth_client", "oauth_code", "oauth_refresh", "oauth_spent"],
  ...["one_time_link", "invitation_of", "challenge_used", "console_session", "session_of"],
  ...[
    "login_failures",
    "login_place",
    "session_ends",
    "account_token",
    "mail_job",
    "rate_count",
    "captcha_used",
  ],
  ...["change_ticket", "webhook_lease", "webhook_event", "audit", "commit_receipt", "readiness"],
];
/** A token may have an end or none, and a block of money ends by itself only once it was given back. */
const AS_IT_SAYS = ["token", "token_by_hash", "child_token", "token_use", "balance_block"];

const hasLifetime = new Map<unknown, boolean | null>([
  ...FOR_EVER.map((kind) => [kind, false] as const),
  ...FOR_A_TIME.map((kind) => [kind, true] as const),
  ...AS_IT_SAYS.map((kind) => [kind, null] as const),
]);

/** Watches what is written from now on. Answers what was written with a wrong lifetime, a line for each kind. */
export function watchLifetimes(kv: Deno.Kv): () => readonly string[] {
  const wrong = new Set<string>();
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => {
    const operation = atomic();
    const set = operation.set.bind(operation);
    operation.set = (key, value, options) => {
      const fault = faultOf(key[0], options?.expireIn);
      if (fault !== null) wrong.add(fault);
      return set(key, value, options);
    };
    return operation;
  };
  return () => [...wrong];
}

function faultOf(kind: unknown, expireIn: number | undefined): string | null {
  const has = hasLifetime.get(kind);
  if (has === undefined) return `${kind}: tests/testing/watch_lifetimes.ts does not say whether it ends`;
  if (expireIn !== undefined && !(expireIn > 0)) return `${kind}: its lifetime is ${expireIn}`;
  if (has === null || has === (expireIn !== undefined)) return null;
  return `${kind}: ${has ? "was written without a lifetime" : "ends by itself"}`;
}
