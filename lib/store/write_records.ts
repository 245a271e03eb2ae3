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
  /** Counts its changes from 1 on; absent: 1. */
  readonly revision?: number;
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
  /** The page on which a person decides, at the address of the time when it was held; absent: from before it was noted. */
  readonly page?: string;
  readonly namespaceId: string;
  readonly databaseId: string;
  /** Of the time when it was held: since then the slug may have become another database's. */
  readonly databaseSlug: string;
  readonly branchRef: string;
  /** The API token that may redeem it. */
  readonly requestedBy: string;
  /** The token at the beginning of its line, where that one has passed power on to it: their approvals count together. */
  readonly askedFor?: string;
  readonly state: "pending" | "approved" | "denied" | "redeemed";
  readonly hits: readonly RuleHit[];
  /** Rows that the write affected in its dry run, with triggers and cascades; null where that is not known. */
  readonly affectedRows: number | null;
  /** How many of them are those of triggers and cascades; absent or null: not known. */
  readonly cascadedRows?: number | null;
  /** By how many rows that may differ when it is redeemed. */
  readonly tolerance: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly decidedAt: number | null;
  readonly reason: string | null;
  /** The kind of the call, as the query log names it; absent in records from before it was noted. */
  readonly operation?: string;
  /** When its effect was last shown; absent: when it was held. */
  readonly lookedAt?: number;
  /** Who has decided; absent or null: nobody, or a rule. */
  readonly decidedBy?: Decider | null;
  /** The person wants a snapshot before it runs. */
  readonly snapshotFirst?: boolean;
  /** When it was last redeemed; absent: never, or before that was noted. */
  readonly redeemedAt?: number;
  /** What became of the last try to redeem it; absent or null: there was none, or nothing is noted of it yet. */
  readonly outcome?: ApprovalOutcome | null;
  readonly pieces: number;
  /** The id of its pieces since the last look; absent: its own id. */
  readonly heldId?: string;
  /** How often its effect was shown again since it was held; absent: never. */
  readonly look?: number;
}

/** A person who has decided about an approval, by the name of that moment. */
export interface Decider {
  /** A member's id, or `operator`. */
  readonly id: string;
  readonly name: string;
}

/** An approved write that was taken back. */
export interface UndoneRecord {
  readonly at: number;
  readonly by: Decider;
  /** Label of the snapshot of the state before that; null where that could not be read any more. */
  readonly snapshot: string | null;
}

/** What became of an approved write. */
export type ApprovalOutcome =
  | {
    readonly kind: "ran";
    readonly at: number;
    readonly rowsWritten: number | null;
    /** Null where the call left no row in the query log. */
    readonly queryLogId: string | null;
    /** Label of the snapshot that brings back the state before; null where there is none. */
    readonly snapshot: string | null;
    /** Set once a person has brought that state back. */
    readonly undone?: UndoneRecord;
  }
  /** It would have done something else, so that nothing was kept and it waits again. */
  | {
    readonly kind: "came_back";
    readonly at: number;
    readonly approvedRows: number | null;
    readonly affectedRows: number | null;
  }
  /** The engine refused it, and nothing was kept of an atomic call. `code` is one of the error table. */
  | { readonly kind: "failed"; readonly at: number; readonly code: string };

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
