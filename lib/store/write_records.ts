// What may stop a write, and writes that wait: as Deno KV holds them. Times are unix milliseconds.

/** What a write may be stopped by. */
export interface RuleRecord {
  /** `rule_…`. */
  readonly id: string;
  readonly databaseId: string;
  /** `*` and `?`, whatever the case. */
  readonly tableGlob: string;
  /** Null: all. */
  readonly actions: readonly RuleAction[] | null;
  readonly effect: "require_approval" | "deny";
  /** Only from so many affected rows on. */
  readonly minRows: number | null;
  /** Only statements without WHERE. */
  readonly unboundedOnly: boolean;
  /** Rows by which the effect of an approved write may have changed since. */
  readonly tolerance: number;
  readonly note: string | null;
  readonly enabled: boolean;
  readonly createdAt: number;
}

export type RuleAction = "insert" | "update" | "delete" | "schema";

/** A rule that a write matches. */
export interface RuleHit {
  readonly ruleId: string;
  readonly tableGlob: string;
  readonly effect: RuleRecord["effect"];
  readonly table: string;
  readonly action: RuleAction;
  readonly note: string | null;
}

/** A write that waits for a person. What it would run is held in pieces beside it. */
export interface ApprovalRecord {
  /** `appr_…` is the token; this is `apv_…`. */
  readonly id: string;
  readonly tokenHash: string;
  readonly namespaceId: string;
  readonly databaseId: string;
  readonly databaseSlug: string;
  readonly branchRef: string;
  /** Only this API token redeems it. */
  readonly requestedBy: string;
  readonly state: "pending" | "approved" | "denied" | "redeemed";
  readonly hits: readonly RuleHit[];
  /** Rows that the write affected in its dry run, triggers and cascades included; null where that is not known. */
  readonly affectedRows: number | null;
  /** Rows by which that may differ when it is redeemed. */
  readonly tolerance: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  readonly reason: string | null;
  readonly pieces: number;
  /** Under what its pieces are held since another look; absent: its id. */
  readonly heldId?: string;
  /** How often what it would do was looked at again since it was held; absent: never. */
  readonly look?: number;
}

export interface ApprovalPointer {
  readonly namespaceId: string;
  readonly approvalId: string;
}

/** A proposed write, which its proposer may run once. */
export interface ExecutionRecord {
  readonly tokenId: string;
  readonly databaseId: string;
  readonly branchRef: string;
  readonly expiresAt: number;
  readonly pieces: number;
}
