// A stream of libSQL's protocol: stored texts, and a transaction while one is open.
import { AppError } from "../../core/errors.ts";
import type { InteractiveTransaction } from "../../query/transaction/interactive_transaction.ts";
import type { TransactionControl } from "../../sql/tokens/transaction_control.ts";
import type { DoorContext, DoorOptions } from "./hrana_types.ts";
import { readmitLate } from "./readmit_late.ts";
import type { StoredTexts } from "./stored_texts.ts";

/** One stream. */
export class HranaStream {
  #transaction: InteractiveTransaction | null = null;
  /** Who began it here, and where. */
  #begunBy: Pick<DoorContext, "tokenId" | "target"> | null = null;

  /** `texts`: of this stream, or of the socket that it is on. */
  constructor(readonly texts: StoredTexts) {}

  /** The open transaction. After a loss it stays up to COMMIT or ROLLBACK, and everything that is asked of it fails, these too. */
  get transaction(): InteractiveTransaction | null {
    return this.#transaction;
  }

  /** As SQLite reports it. */
  get autocommit(): boolean {
    return this.#transaction?.autocommit ?? true;
  }

  /** Goes on with a transaction that rested. */
  resume(transaction: InteractiveTransaction): void {
    this.#transaction = transaction;
  }

  /**
   * A socket may say hello with another token: what the first one has begun is lost then, as its role and its database are
   * others. Errors: `transaction_timeout`, until the stream is closed.
   */
  requireOwner({ tokenId, target }: DoorContext): void {
    const begunBy = this.#begunBy;
    if (this.#transaction === null || begunBy === null) return;
    if (begunBy.tokenId === tokenId && begunBy.target.databaseId === target.databaseId) return;
    this.#transaction.abandon();
    throw new AppError("transaction_timeout");
  }

  /** Forgets a transaction that a statement has ended by itself. */
  settle(): void {
    if (this.#transaction?.autocommit) this.#transaction = null;
  }

  /**
   * Begins, ends or divides a transaction. `signal`: the caller has gone. Errors: `sql_error` where there is none, or one
   * already; those of the transaction and of `readmitLate`.
   */
  async control(
    ctx: DoorContext,
    control: TransactionControl,
    options: Pick<DoorOptions, "signal" | "beganMs">,
  ): Promise<void> {
    if (control.verb !== "rollback") await readmitLate(ctx, options);
    if (control.verb === "begin") return await this.#begin(ctx, control.mode, options.signal());
    const transaction = this.#transaction;
    if (transaction === null) {
      throw sqlError(withoutTransaction(control));
    }
    if ("name" in control) await transaction.savepoint(control.verb, control.name);
    else await this.#end(transaction, control.verb);
    this.settle();
  }

  /** Ends the stream; an open transaction is rolled back. */
  async close(): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = null;
    if (transaction === null || transaction.autocommit || transaction.lost !== null) return;
    try {
      await transaction.rollback();
    } catch (error) {
      // It has gone by itself meanwhile, which is the same to whoever closes it.
      if (!(error instanceof AppError)) throw error;
    }
  }

  /**
   * The same at once, where nobody waits: the socket has closed, or the token is gone. What runs on the stream goes on, and
   * finds the transaction lost: without one its next statement would commit by itself.
   */
  abandon(): void {
    this.#transaction?.abandon();
  }

  async #end(transaction: InteractiveTransaction, verb: "commit" | "rollback"): Promise<void> {
    try {
      await transaction[verb]();
    } finally {
      // What follows was never meant for a transaction that was lost. A client that heard that it goes on would leave out
      // the next BEGIN, on a stream without one.
      if (transaction.lost !== null) this.#transaction = null;
    }
  }

  async #begin(
    ctx: DoorContext,
    mode: "deferred" | "immediate" | "exclusive" | "readonly",
    signal: AbortSignal | null,
  ): Promise<void> {
    if (this.#transaction !== null) throw sqlError("cannot start a transaction within a transaction");
    if (ctx.begin === null) throw unavailable();
    const { target, tokenId } = ctx;
    this.#begunBy = { target, tokenId };
    this.#transaction = await ctx.begin(ctx, { target, tokenId, userId: null, mode, signal });
    // It may have waited for its turn.
    if (signal?.aborted) this.abandon();
  }
}

function withoutTransaction(control: TransactionControl): string {
  const { verb } = control;
  // In SQLite it would begin one, which its release commits.
  if (verb === "savepoint") return "Send BEGIN first; a savepoint begins no transaction here";
  if (verb === "commit") return "cannot commit - no transaction is active";
  return "name" in control
    ? `no such savepoint: ${control.name}`
    : "cannot rollback - no transaction is active";
}

function unavailable(): AppError {
  return sqlError(
    "Send the whole transaction as one batch; a transaction over several requests is not available here",
  );
}

function sqlError(message: string): AppError {
  return new AppError("sql_error", {
    message,
    detail: {
      kind: "unknown",
      table: null,
      column: null,
      hint: "Begin with BEGIN, end with COMMIT or ROLLBACK, or send the statements as one batch",
    },
  });
}
