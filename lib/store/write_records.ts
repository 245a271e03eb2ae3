// Rules and writes that wait for a person, as Deno KV stores them. Times are unix milliseconds.

/** An approval rule. */
export interface RuleRecord {
  /** `rule_…`. */
  readonly id: string;
  readonly databaseId: string;
  /** A pattern with `*` and `?`, in any case. */
  readonly tableGlob: string;
  /** Null: all actions. */
  readonly actions: readonly RuleAction[] | null;
  readonly effect: "require_approval" | "deny";
  /** Applies only to writes of at least so many rows. */
  readonly minRows: number | null;
  /** Applies only to statements without WHERE. */
  readonly unboundedOnly: boolean;
  /** By how many rows the effect of an approved write may have changed since. */
  readonly tolerance: number;
  readonly note: string | null;
  readonly enabled: boolean;
  readonly createdAt: number;
}

/** The actions that a rule can match. */
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

/** A write that waits for a person. Its text is stored in pieces under keys of its own. */
export interface ApprovalRecord {
  /** `apv_…`; the token is `appr_…`. */
  readonly id: string;
  readonly tokenHash: string;
  readonly namespaceId: string;
  readonly databaseId: string;
  readonly databaseSlug: string;
  readonly branchRef: string;
  /** The API token that may redeem it. */
  readonly requestedBy: string;
  readonly state: "pending" | "approved" | "denied" | "redeemed";
  readonly hits: readonly RuleHit[];
  /** Rows that the write affected in its dry run, with triggers and cascades; null where that is not known. */
  readonly affectedRows: number | null;
  /** By how many rows that may differ when it is redeemed. */
  readonly tolerance: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  readonly reason: string | null;
  readonly pieces: number;
  /** The id of its pieces since the last look; absent: its own id. */
  readonly heldId?: string;
  /** How often its effect was shown again since it was held; absent: never. */
  readonly look?: number;
}

/** Where an approval's record is. */
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
