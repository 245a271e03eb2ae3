// What a transaction over several requests has beside its statements: how it begins, its savepoints and its end.
import { AppError } from "../core/errors.ts";
import type { EngineFailure } from "../engine/engine_failure.ts";

/** How a transaction begins. */
export interface TransactionOptions {
  /** `readonly` runs on a connection that only reads. */
  readonly mode: "deferred" | "immediate" | "readonly";
  /** Whose transaction it is: a token may have so many open. */
  readonly tokenId: string;
  /** What `rest` gave: it goes on. */
  readonly rested?: string;
}

/** The kinds of savepoint statements. */
export type SavepointVerb = "savepoint" | "release" | "rollback to";

/**
 * The control of one transaction. Nothing is taken before its first statement. A statement that fails leaves it as it was
 * before. Everything fails with `transaction_timeout` once it was taken away.
 */
export interface TransactionControl {
  /** It has its snapshot or the write slot. */
  readonly begun: boolean;
  /** It has come to its end: committed, rolled back, or ended by a statement that rolled the whole back. */
  readonly ended: boolean;
  /** Why it was taken away, in words for the caller; null: it was not. */
  readonly lost: string | null;
  /**
   * Brings its changes, log rows and audit rows to the disk. A failure is returned: `foreign_key_violation` leaves it open,
   * any other ends it. Errors: `outcome_unknown`, `transaction_timeout`.
   */
  commit(): Promise<EngineFailure | null>;
  /** Undoes its changes; its log rows stay. */
  rollback(): Promise<void>;
  /** A failure is returned: no savepoint has the name. */
  savepoint(verb: SavepointVerb, name: string): Promise<EngineFailure | null>;
  /** Ends it without waiting. */
  abandon(): void;
  /** Null: it rests in this process. Else text by which any process goes on with it. */
  rest(): string | null;
}

/** The error of whatever is asked of a transaction that was taken away. `why`: the first half of a sentence. */
export function takenAway(why: string): AppError {
  return new AppError("transaction_timeout", { message: `Begin again; ${why}, and nothing of it was kept` });
}
