// The values of the control plane as Deno KV holds them. Times are unix milliseconds; nothing here is a secret.
import type { Role } from "../core/role.ts";

/** A tenant and billing unit. */
export interface NamespaceRecord {
  /** `ns_…`, never reused. */
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly createdAt: number;
}

/** One isolated database. Its id is also the tenant store's name for it and is never reused. */
export interface DatabaseRecord {
  /** `db_…`. */
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly namespaceId: string;
  readonly branchRef: string;
  readonly createdAt: number;
  /** Key of end-user sessions, made on the first auth call. */
  readonly sessionSigningKeyB64?: string;
  /** Session tokens issued before (unix seconds) are refused. */
  readonly tokensMinIat?: number;
}

/** A throw-away copy of a database. Every fresh copy is storage of its own, under a new id. */
export interface BranchRecord {
  /** `db_…`: the copy's storage. */
  readonly id: string;
  readonly namespaceId: string;
  /** `db_…`: the database it is a branch of. */
  readonly trunkId: string;
  readonly ref: string;
  readonly purpose: string;
  readonly role: Role;
  /** Of the ref, and of the present copy. */
  readonly createdAt: number;
  readonly copiedAt: number;
  readonly expiresAt: number;
  /** The token of the claim that made it; null after a reset. */
  readonly tokenId: string | null;
}

/** Where a branch's record is. */
export interface BranchPointer {
  readonly trunkId: string;
  readonly ref: string;
}

/** A database that is out of reach and can be brought back. */
export interface DeletedDatabaseRecord {
  readonly database: DatabaseRecord;
  readonly deletedAt: number;
  /** Then its storage is dropped. */
  readonly untilMs: number;
}

/** What a token may touch: one branch of one database, with at most this role. */
export interface ScopeRow {
  readonly databaseId: string;
  /** `main` for the trunk. */
  readonly branchRef: string;
  readonly role: Role;
}

/** An API token without its secret. */
export interface TokenRecord {
  /** `tok_…`. */
  readonly id: string;
  /** SHA-256 of the token, hex. */
  readonly hash: string;
  readonly name: string;
  readonly namespaceId: string;
  readonly role: Role;
  /** Empty: the whole namespace. */
  readonly scopes: readonly ScopeRow[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** The token that handed off, for one that was redeemed: it dies with that. */
  readonly parentId?: string;
}

/** What a handoff token is exchanged for: a token for one branch of one database. */
export interface HandoffRecord {
  readonly namespaceId: string;
  /** The token that minted it. */
  readonly parentId: string;
  readonly databaseId: string;
  readonly branchRef: string;
  readonly role: Role;
  /** From then on it has expired, whether KV has cleaned it up or not. */
  readonly untilMs: number;
}

/** Where a token's record is. */
export interface TokenPointer {
  readonly namespaceId: string;
  readonly tokenId: string;
}

/** Storage that no record names: being made, or being deleted. A sweep finishes what a crash left. */
export interface LeftoverRecord {
  readonly kind: "database" | "namespace";
  readonly sinceMs: number;
}

/** How far the first start has come. */
export interface FirstStartRecord {
  /** The first start is over, with or without a demo. */
  readonly done: boolean;
  /** Until then whoever began it is taken for alive. */
  readonly leaseUntilMs: number | null;
}

/**
 * The money of a namespace, in whole nano-dollars. At every commit:
 * `creditedNanoUsd = balanceNanoUsd + reservedNanoUsd + usedNanoUsd`, and all of them are safe integers from zero.
 */
export interface BalanceRecord {
  /** Free: neither spent nor in a block. */
  readonly balanceNanoUsd: number;
  /** Sum of the namespace's blocks. */
  readonly reservedNanoUsd: number;
  /** What was paid for usage. */
  readonly usedNanoUsd: number;
  /** Sum of all credits. */
  readonly creditedNanoUsd: number;
  /** What usage cost beyond what was there; nobody paid it. */
  readonly writtenOffNanoUsd: number;
  /** Most that may be paid in one UTC month. Null: no cap. */
  readonly monthlyCapNanoUsd: number | null;
  /** UTC month of `monthUsedNanoUsd`, `2026-11`. */
  readonly month: string;
  readonly monthUsedNanoUsd: number;
}

/** Money that one process has taken out of a balance to spend without asking. */
export interface BlockRecord {
  readonly amountNanoUsd: number;
  /** The process that spends it. */
  readonly owner: string;
  /** Wall time after which the owner counts as dead. */
  readonly expiresAtMs: number;
  /** The owner's number of the last change, by which it knows whether an unconfirmed change was made. */
  readonly stamp: number;
  /** Its money went back; kept for a while for an owner who has not heard. */
  readonly closed: boolean;
}

/** A payment. The same reference counts once. */
export interface CreditRecord {
  readonly reference: string;
  readonly amountNanoUsd: number;
  readonly createdAt: number;
}

/** What one database used in one UTC hour. Costs here include what was written off. */
export interface UsageRecord {
  readonly requests: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly costNanoUsd: number;
}

/** A call that is not to run twice: under way, or with its answer kept. */
export interface ReplayRecord {
  /** SHA-256 of the request, hex. */
  readonly requestHash: string;
  /** `tenant`: the answer is in the tenant's own table. */
  readonly state: "running" | "kept" | "tenant";
  /** Which run this is about: pieces of an answer carry it too. */
  readonly run: string;
  /** While it runs: when its process counts as dead. Afterwards: when it is forgotten. */
  readonly untilMs: number;
  readonly pieces: number;
}

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
