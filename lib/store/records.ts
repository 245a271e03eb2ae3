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
