// A transaction that lasts over several requests of one caller: what a surface that offers BEGIN and COMMIT works with.
import type { Role } from "../../core/role.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { SavepointVerb } from "../../tenant/transaction_control.ts";
import type { Facts } from "../facts_cache.ts";
import type {
  QueryAnswer,
  QueryContext,
  QueryStatement,
  QueryTarget,
  StatementDatabase,
} from "../query_call.ts";

/** The kinds of BEGIN. `exclusive` means what `immediate` does, because readers are never kept out. */
export type TransactionMode = "deferred" | "immediate" | "exclusive" | "readonly";

/** Who begins a transaction, where and how. With a role of `read` every mode is `readonly`. */
export interface TransactionStart {
  readonly target: QueryTarget;
  readonly tokenId: string;
  readonly userId: string | null;
  readonly mode: TransactionMode;
  /** Says that nobody waits for its beginning any more. */
  readonly signal?: AbortSignal | null;
}

/** Statements to run inside the transaction: one log row, and all or nothing unless `atomic` is false. */
export interface TransactionCall {
  readonly statements: readonly QueryStatement[];
  /** The caller's role in the database now: a token may have lost what it had when the transaction began. */
  readonly role: Role;
  readonly atomic: boolean;
  /** Errors name the index of their statement. */
  readonly batch: boolean;
  readonly rowForm: RowForm;
  /** The most rows that the caller lets the statements change; with more they are undone, and the transaction goes on. */
  readonly maxAffected: number | null;
  /** False: the caller does without the snapshot before a destructive statement. */
  readonly snapshots: boolean;
  /** True for the first call of a request: the price of a request is taken once. */
  readonly opensRequest: boolean;
  readonly signal: () => AbortSignal | null;
}

/**
 * One transaction. It takes one call at a time; a second one while a first runs is a `TypeError`. BEGIN has taken
 * nothing: the first statement takes the snapshot or the write slot. Every method fails with `transaction_timeout` once
 * the transaction was taken away (its lease, its idle time, a restore, a merge, a drop, an engine that ended), and nothing
 * of it is kept.
 */
export interface InteractiveTransaction {
  /**
   * As SQLite reports it: false from BEGIN to the end. True after `commit`, `rollback`, and a statement that rolled the
   * whole back (`OR ROLLBACK`). After a loss it stays false, so that no client goes on without its transaction.
   */
  readonly autocommit: boolean;
  /** Null: it goes on. Else why it was taken away, in words for the caller. */
  readonly lost: string | null;
  /** What its statements are compiled against: nothing of the schema that only it sees may be learned elsewhere. */
  readonly sees: { readonly facts: Facts; readonly database: StatementDatabase };
  /**
   * Passes the pipeline: classify, authorise, rules, reserve, execute, settle, record. A failed statement leaves the
   * transaction as it was before it. Errors: the pipeline's, among them `database_busy` where another writer has
   * committed since the transaction's first read; `transaction_held` where a rule would hold the statement for a person;
   * `transaction_timeout`.
   */
  run(call: TransactionCall): Promise<QueryAnswer>;
  /**
   * Resolves when everything is on the disk. Errors: `sql_error` with `foreign_key_violation` (the transaction goes on);
   * `outcome_unknown`, `transaction_timeout`.
   */
  commit(): Promise<void>;
  /** Undoes everything. Its log rows stay. */
  rollback(): Promise<void>;
  /** Errors: `sql_error` where no savepoint has the name. */
  savepoint(verb: SavepointVerb, name: string): Promise<void>;
  /** Rolls it back without waiting: the socket has closed, or the token is gone. */
  abandon(): void;
  /**
   * Lets the transaction rest between two requests. Null: it lives in this process, as this object, until its time is up.
   * Else text by which `resumeTransaction` goes on in any process; it has to be kept from the caller's eyes and changes
   * (sealed), and this object is not used again.
   */
  rest(): string | null;
}

/** Begins a transaction. Errors: `transaction_limit`. */
export type BeginTransaction = (
  ctx: QueryContext,
  start: TransactionStart,
) => Promise<InteractiveTransaction>;

/** Goes on with a transaction that rests elsewhere. Errors: `transaction_timeout`. */
export type ResumeTransaction = (
  ctx: QueryContext,
  start: Omit<TransactionStart, "mode">,
  rested: string,
) => Promise<InteractiveTransaction>;
