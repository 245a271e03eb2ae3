// The values of the control plane as Deno KV holds them. Times are unix milliseconds; nothing here is a secret.
import type { EndpointSpec, EndpointStatus } from "../core/endpoint_spec.ts";
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
  /** The token that handed off, or that claimed the branch: this one dies with it. */
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

/** A published endpoint, or one on its way. */
export interface EndpointRecord {
  readonly databaseId: string;
  readonly spec: EndpointSpec;
  readonly status: EndpointStatus;
  /** Number of its last revision, from 1; goes on when a slug is made anew. */
  readonly revision: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One change of an endpoint. */
export interface EndpointRevision {
  readonly revision: number;
  readonly at: number;
  /** Id of the API token, or `operator`. */
  readonly actor: string;
  readonly change: "created" | "updated" | "status" | "restored" | "deleted";
  readonly spec: EndpointSpec;
  readonly status: EndpointStatus;
}

/** Failed logins of one account since the first of them. */
export interface LoginFailuresRecord {
  readonly count: number;
  /** Then they are forgotten, whether KV has cleaned them up or not. */
  readonly untilMs: number;
}
