// The schema of Deno KV: one builder for each key, with the type of its value and its lifetime. Keys are built nowhere
// else.
import type {
  BranchPointer,
  BranchRecord,
  DatabaseRecord,
  DeletedDatabaseRecord,
  EndpointRecord,
  EndpointRevision,
  FirstStartRecord,
  HandoffRecord,
  LeftoverRecord,
  NamespaceRecord,
  ReplayRecord,
  TokenPointer,
  TokenRecord,
} from "./records.ts";
import type { Key } from "./key.ts";
import { accountKeys } from "./account_keys.ts";
import type { AuditRecord } from "./audit_records.ts";
import { moneyKeys } from "./money_keys.ts";
import { changesKeys } from "./changes_keys.ts";
import { oauthKeys } from "./oauth_keys.ts";
import { peopleKeys } from "./people_keys.ts";
import type { ApprovalPointer, ApprovalRecord, ExecutionRecord, RuleRecord } from "./write_records.ts";

export type { Key };

/** The prefix of all keys of the kind of this one: they begin with its first word. */
export function kindOf<Value>(key: Key<Value>): Key<Value> {
  return key.slice(0, 1);
}

/** Every key, and every prefix that is listed. Indexes store ids, never copies of a record. */
export const keys = {
  ...accountKeys,
  ...peopleKeys,
  ...changesKeys,
  ...oauthKeys,
  ...moneyKeys,

  /** Until the namespace is deleted. Sorted by creation. */
  namespace: (namespaceId: string): Key<NamespaceRecord> => ["namespace", namespaceId],
  namespaces: (): Key<NamespaceRecord> => ["namespace"],

  /** Id of the namespace with that slug. As long as the namespace. */
  namespaceBySlug: (slug: string): Key<string> => ["namespace_by_slug", slug],
  namespacesBySlug: (): Key<string> => ["namespace_by_slug"],

  /** Until the database is deleted. Sorted by creation within the namespace. */
  database: (namespaceId: string, databaseId: string): Key<DatabaseRecord> => [
    "database",
    namespaceId,
    databaseId,
  ],
  databases: (namespaceId: string): Key<DatabaseRecord> => ["database", namespaceId],

  /** Id of the database with that slug. As long as the database. */
  databaseBySlug: (namespaceId: string, slug: string): Key<string> => [
    "database_by_slug",
    namespaceId,
    slug,
  ],
  databasesBySlug: (namespaceId: string): Key<string> => ["database_by_slug", namespaceId],

  /** Until the branch is deleted, or swept after its deadline. Sorted by ref within the trunk. */
  branch: (namespaceId: string, trunkId: string, ref: string): Key<BranchRecord> => [
    "branch",
    namespaceId,
    trunkId,
    ref,
  ],
  branchesOf: (namespaceId: string, trunkId: string): Key<BranchRecord> => ["branch", namespaceId, trunkId],
  branchesIn: (namespaceId: string): Key<BranchRecord> => ["branch", namespaceId],
  branches: (): Key<BranchRecord> => ["branch"],

  /** How many were ever added; as long as the trunk. */
  branchesAdded: (trunkId: string): Key<number> => ["branches_added", trunkId],

  /** Where the record of the branch with that database id is. As long as the branch is that copy. */
  branchById: (namespaceId: string, databaseId: string): Key<BranchPointer> => [
    "branch_by_id",
    namespaceId,
    databaseId,
  ],

  /** Until it is revoked, or a day after it expired. Sorted by creation within the namespace. */
  token: (namespaceId: string, tokenId: string): Key<TokenRecord> => ["token", namespaceId, tokenId],
  tokens: (namespaceId: string): Key<TokenRecord> => ["token", namespaceId],

  /** When the token was last used, in unix milliseconds; some minutes behind. As long as the token. */
  tokenUse: (namespaceId: string, tokenId: string): Key<number> => ["token_use", namespaceId, tokenId],

  /** From its deletion until its storage is dropped. Sorted by creation within the namespace. */
  deletedDatabase: (namespaceId: string, databaseId: string): Key<DeletedDatabaseRecord> => [
    "deleted_database",
    namespaceId,
    databaseId,
  ],
  deletedDatabasesOf: (namespaceId: string): Key<DeletedDatabaseRecord> => ["deleted_database", namespaceId],
  deletedDatabases: (): Key<DeletedDatabaseRecord> => ["deleted_database"],

  /** Until it is deleted, as long as the database. */
  endpoint: (databaseId: string, slug: string): Key<EndpointRecord> => ["endpoint", databaseId, slug],
  endpoints: (databaseId: string): Key<EndpointRecord> => ["endpoint", databaseId],

  /** Characters of the specifications of a database's endpoints, as long as the database; absent where no service that counts them has changed any. */
  endpointCharacters: (databaseId: string): Key<number> => ["endpoint_characters", databaseId],

  /** As long as the database, also after the endpoint is deleted, until there are 1,000 newer ones, of long ones fewer. Sorted by number. */
  endpointRevision: (databaseId: string, slug: string, revision: number): Key<EndpointRevision> => [
    "endpoint_revision",
    databaseId,
    slug,
    revision,
  ],
  endpointRevisions: (databaseId: string, slug: string): Key<EndpointRevision> => [
    "endpoint_revision",
    databaseId,
    slug,
  ],
  endpointRevisionsOf: (databaseId: string): Key<EndpointRevision> => ["endpoint_revision", databaseId],

  /** Calls admitted in one UTC window, and a minute more. `client` is a keyed hash of the address. */
  rateCount: (databaseId: string, slug: string, window: string, client: string): Key<number> => [
    "rate_count",
    databaseId,
    slug,
    window,
    client,
  ],

  /** A solved captcha that has counted, until it would have expired. The hash is SHA-256, hex. */
  captchaUsed: (hash: string): Key<true> => ["captcha_used", hash],

  /** The secret of the hashes of addresses and emails, which also signs captcha challenges. For ever. */
  hashSecret: (): Key<Uint8Array> => ["hash_secret"],

  /** As long as the token. The hash is SHA-256, hex. */
  tokenByHash: (hash: string): Key<TokenPointer> => ["token_by_hash", hash],

  /** The id of a token that another token handed off, or that a member or token gave a client. As long as that child. */
  childToken: (namespaceId: string, parentId: string, tokenId: string): Key<string> => [
    "child_token",
    namespaceId,
    parentId,
    tokenId,
  ],
  childTokens: (namespaceId: string, parentId: string): Key<string> => [
    "child_token",
    namespaceId,
    parentId,
  ],

  /** Until it is redeemed or has expired. The hash is SHA-256, hex. */
  handoff: (hash: string): Key<HandoffRecord> => ["handoff", hash],
  /** How many a token, and all that come of it, have minted in a UTC day since 1970. Two days. */
  handoffsMinted: (namespaceId: string, tokenId: string, day: number): Key<number> => [
    "handoffs_minted",
    ...[namespaceId, tokenId, day],
  ],

  /** Until what it names (`db_…`, `ns_…`) is made or gone. */
  leftover: (id: string): Key<LeftoverRecord> => ["leftover", id],
  leftovers: (): Key<LeftoverRecord> => ["leftover"],

  /** SHA-256 of the operator key that the first start made, hex. For ever. */
  operatorKeyHash: (): Key<string> => ["operator_key_hash"],

  /** Until it is deleted, as long as the database. Sorted by creation. */
  rule: (databaseId: string, ruleId: string): Key<RuleRecord> => ["rule", databaseId, ruleId],
  rules: (databaseId: string): Key<RuleRecord> => ["rule", databaseId],
  /** How many were ever added; as long as the database. */
  rulesAdded: (databaseId: string): Key<number> => ["rules_added", databaseId],

  /** A day, and a day more for callers who ask what became of it. Sorted by creation within the namespace. */
  approval: (namespaceId: string, approvalId: string): Key<ApprovalRecord> => [
    "approval",
    namespaceId,
    approvalId,
  ],
  approvals: (namespaceId: string): Key<ApprovalRecord> => ["approval", namespaceId],
  approvalByHash: (hash: string): Key<ApprovalPointer> => ["approval_by_hash", hash],
  /** As long as that approval: the number, from 0, of the newest one of a call that may be repeated. */
  newestApproval: (callHash: string): Key<number> => ["newest_approval", callHash],
  /** While it is pending or approved: until when, in unix milliseconds. */
  openApproval: (databaseId: string, approvalId: string): Key<number> => [
    "open_approval",
    databaseId,
    approvalId,
  ],
  openApprovals: (databaseId: string): Key<number> => ["open_approval", databaseId],
  /** The same of the API token that has asked for it. */
  openApprovalOf: (db: string, token: string, id: string): Key<number> => ["open_approval_of", db, token, id],
  openApprovalsOf: (db: string, token: string): Key<number> => ["open_approval_of", db, token],
  /** How many were added: another number with each. KV forgets it after two days without one. */
  approvalsAdded: (databaseId: string): Key<number> => ["approvals_added", databaseId],
  /** While it is pending: until when, in unix milliseconds. Sorted by creation within the namespace. */
  waitingApproval: (namespaceId: string, approvalId: string): Key<number> => [
    "waiting_approval",
    namespaceId,
    approvalId,
  ],
  waitingApprovals: (namespaceId: string): Key<number> => ["waiting_approval", namespaceId],
  /** Written anew with every change of an approval of the namespace. As long as there may be one. */
  approvalsChanged: (namespaceId: string): Key<true> => ["approvals_changed", namespaceId],

  /** As long as logs are kept. Sorted by time within the namespace. */
  audit: (namespaceId: string, auditId: string): Key<AuditRecord> => ["audit", namespaceId, auditId],
  audits: (namespaceId: string): Key<AuditRecord> => ["audit", namespaceId],

  /** Up to an hour, until it is used. The hash is SHA-256 of the execution token, hex. */
  execution: (hash: string): Key<ExecutionRecord> => ["execution", hash],

  /** The text behind an approval or an execution token, in pieces; as long as its record. */
  heldPiece: (holder: string, piece: number): Key<Uint8Array> => ["held_piece", holder, piece],

  /** A day from the answer, or until the call fails. `key` is a hash of the call's scope. */
  replay: (key: string): Key<ReplayRecord> => ["replay", key],

  /** As long as the replay. `run` distinguishes the pieces of different runs. */
  replayPiece: (
    key: string,
    run: string,
    piece: number,
  ): Key<Uint8Array> => ["replay_piece", key, run, piece],

  /** Ten minutes: a receipt that one commit took effect. */
  commitReceipt: (id: string): Key<true> => ["commit_receipt", id],

  /**
   * Until `untilMs`, in KV's own file: the record of that key ends then, if it is of the same commit. Sorted by end.
   */
  lifetime: (untilMs: number, key: Key<unknown>): Key<null> => ["lifetime", untilMs, ...key],
  lifetimes: (): Key<null> => ["lifetime"],
  /** The key of the record that such a note is about. */
  lived: (lifetime: Key<null>): Key<unknown> => lifetime.slice(2),

  /** Before every record. */
  all: (): Key<unknown> => [],

  /** A minute: when somebody last checked that KV takes writes, in unix milliseconds. */
  readiness: (): Key<number> => ["readiness"],

  /** For ever. */
  firstStart: (): Key<FirstStartRecord> => ["first_start"],
} as const;
