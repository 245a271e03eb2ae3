// The records of the control plane as Deno KV stores them. Times are unix milliseconds. Nothing here is a secret,
// except the signing key of sessions.
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
  /** The signing key of end-user sessions, made by the first of them. */
  readonly sessionSigningKeyB64?: string;
  /** Sessions issued before this unix second are refused. */
  readonly tokensMinIat?: number;
  /** How often all its sessions have been ended; absent: never, or by an older version only. */
  readonly sessionGeneration?: number;
}

/** A branch: a copy of a database for a while. Each new copy is storage of its own, under a new id. */
export interface BranchRecord {
  /** `db_…`: the copy's storage. */
  readonly id: string;
  readonly namespaceId: string;
  /** `db_…`: the trunk. */
  readonly trunkId: string;
  readonly ref: string;
  readonly purpose: string;
  readonly role: Role;
  /** When the ref was claimed first, and when the present copy was made. */
  readonly createdAt: number;
  readonly copiedAt: number;
  /** When rows of it were merged last; absent: never. Those of an earlier copy count no more. */
  readonly mergedAt?: number;
  readonly expiresAt: number;
  /** The token that the claim which made the copy has handed out; null where it handed out none, and after a reset. */
  readonly tokenId: string | null;
  /** The API token that claimed the branch last; absent where a person did, and in records from before it was noted. */
  readonly claimedBy?: string;
}

/** Where the record of a branch is. */
export interface BranchPointer {
  readonly trunkId: string;
  readonly ref: string;
}

/** A deleted database that can still be restored. */
export interface DeletedDatabaseRecord {
  readonly database: DatabaseRecord;
  readonly deletedAt: number;
  /** When its storage is dropped. */
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
  /** The token that handed off, claimed the branch or allowed a client: this token ends with it. */
  readonly parentId?: string;
  /** The member who allowed a client: this token ends when the member is gone or has another `epoch`. */
  readonly member?: MemberStand;
  /** Where it counts; absent: everywhere. */
  readonly audience?: TokenAudience;
  /** The client that was allowed, in a token that OAuth made. */
  readonly client?: ClientFacts;
  /** When the present secret ends: the client gets another one by its refresh token. Absent: with the token. */
  readonly secretUntilMs?: number;
}

/** `mcp`: at `/mcp` only. */
export type TokenAudience = "mcp";

/** A member as it was at a moment: with another `epoch` it has changed since. */
export interface MemberStand {
  readonly id: string;
  readonly epoch: number;
}

/** A client as its connection shows it. */
export interface ClientFacts {
  /** `cli_…`, or the address of its document. */
  readonly id: string;
  readonly name: string;
  /** Where its codes go: a host, or the scheme of a program. */
  readonly host: string;
}

/** What a handoff token is exchanged for: a token for one branch of one database. */
export interface HandoffRecord {
  readonly namespaceId: string;
  /** The token that minted it. */
  readonly parentId: string;
  readonly databaseId: string;
  readonly branchRef: string;
  readonly role: Role;
  /** When it expires. KV may delete it later. */
  readonly untilMs: number;
}

/** Where the record of a token is. */
export interface TokenPointer {
  readonly namespaceId: string;
  readonly tokenId: string;
  /** When the secret behind this hash ends; absent: with the token. */
  readonly untilMs?: number;
}

/** A note about storage that no record names: it is being made or deleted, and a sweep finishes what a crash left. */
export interface LeftoverRecord {
  readonly kind: "database" | "namespace";
  readonly sinceMs: number;
}

/** How far the first start has come. */
export interface FirstStartRecord {
  /** Whether the first start is finished, with or without a demo. */
  readonly done: boolean;
  /** Until when the process that began it counts as alive. */
  readonly leaseUntilMs: number | null;
}

/** A call that must not run twice: running, or with its answer stored. */
export interface ReplayRecord {
  /** SHA-256 of the request, hex. */
  readonly requestHash: string;
  /** Where it ran, if its key does not say so. Records of earlier versions have none. */
  readonly databaseId?: string;
  /** `tenant`: the answer is in the tenant's own table. */
  readonly state: "running" | "kept" | "tenant";
  /** The run that this is about: pieces of its answer have it in their keys. */
  readonly run: string;
  /** While it runs, when its process counts as dead. Afterwards, when it is forgotten. */
  readonly untilMs: number;
  readonly pieces: number;
  /** The answer of a plan's step is not sealed for its caller: another call has stored it. */
  readonly isOpen?: true;
}

/** An endpoint of any status. */
export interface EndpointRecord {
  readonly databaseId: string;
  readonly spec: EndpointSpec;
  readonly status: EndpointStatus;
  /** The number of its last revision, from 1. It goes on when a deleted slug is used again. */
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
