// Begins a transaction over several requests, and passes each of its calls through the pipeline.
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { StatementEffect } from "../../engine/statement_effect.ts";
import type { SavepointVerb, TransactionOptions } from "../../tenant/transaction_control.ts";
import type {
  StatementResult,
  TenantCall,
  TenantDatabase,
  TenantOutcome,
  TenantTransaction,
} from "../../tenant/tenant_store.ts";
import { failureError } from "../failure_error.ts";
import { affectedRows } from "../held_call.ts";
import { plainCall } from "../plain_call.ts";
import { effectsOf } from "../preview.ts";
import type { QueryAnswer, QueryContext, StatementDatabase } from "../query_call.ts";
import { runIn } from "../run.ts";
import { ChangedRows, type RestedCount } from "./changed_rows.ts";
import { DroppedTables, type RestedTables } from "./dropped_tables.ts";
import type { InteractiveTransaction, TransactionCall, TransactionStart } from "./interactive_transaction.ts";
import { TransactionFacts } from "./transaction_facts.ts";

/** Begins a transaction. It has taken nothing yet. Errors: `transaction_limit`. */
export async function beginTransaction(
  ctx: QueryContext,
  start: TransactionStart,
): Promise<InteractiveTransaction> {
  const { target, tokenId } = start;
  const database = ctx.tenants.open(target);
  const inside = await database.beginInTurn({ mode: modeOf(start), tokenId }, start.signal ?? null);
  return new PipelineTransaction(ctx, { start, database, inside });
}

/** Goes on with a transaction that rests, where `rest` gave `rested`. Errors: `transaction_timeout`. */
export function resumeTransaction(
  ctx: QueryContext,
  start: Omit<TransactionStart, "mode">,
  rested: string,
): Promise<InteractiveTransaction> {
  const { target, tokenId } = start;
  return Promise.try(() => {
    const { mode, inside: resting, ...before } = readRested(rested);
    const database = ctx.tenants.open(target);
    const options = { mode: modeOf({ mode, target }), tokenId, rested: resting };
    const parts = { start: { ...start, mode }, database, inside: database.begin(options) };
    return new PipelineTransaction(ctx, parts, before);
  });
}

/** A transaction as it rests. */
interface Rested extends RestedTables {
  readonly mode: TransactionStart["mode"];
  readonly hasSnapshot: boolean;
  /** Absent in a text of an earlier version. */
  readonly changed?: RestedCount;
  readonly inside: string;
}

/** Guarantee: the text was sealed by a process of this service. */
function readRested(text: string): Rested {
  return JSON.parse(text);
}

function modeOf(
  { mode, target: { role } }: Pick<TransactionStart, "mode" | "target">,
): TransactionOptions["mode"] {
  if (role === "read") return "readonly";
  return mode === "exclusive" ? "immediate" : mode;
}

interface TransactionParts {
  readonly start: TransactionStart;
  readonly database: TenantDatabase;
  readonly inside: TenantTransaction;
}

/** A transaction whose calls pass the pipeline. */
class PipelineTransaction implements InteractiveTransaction {
  readonly #ctx: QueryContext;
  readonly #start: TransactionStart;
  readonly #database: TenantDatabase;
  readonly #inside: TenantTransaction;
  readonly #facts: TransactionFacts;
  readonly #statements: StatementDatabase;
  #busy = false;
  /** The state before the transaction has a snapshot. */
  #hasSnapshot: boolean;
  readonly #changed: ChangedRows;
  readonly #dropped: DroppedTables;
  /** What the dry run of the present call has shown, for rules that count rows. */
  #effects: readonly StatementEffect[] = [];

  constructor(
    ctx: QueryContext,
    { start, database, inside }: TransactionParts,
    { hasSnapshot, changed, ...tables }: Omit<Rested, "mode" | "inside"> = { hasSnapshot: false },
  ) {
    this.#start = start;
    this.#database = database;
    this.#inside = inside;
    this.#hasSnapshot = hasSnapshot;
    this.#changed = new ChangedRows(changed);
    // Of one that went on elsewhere it is not known what its schema is.
    this.#facts = new TransactionFacts(ctx.facts, inside.begun);
    this.#dropped = new DroppedTables(this.#facts, tables);
    this.#ctx = { ...ctx, facts: this.#facts };
    this.#statements = this.#statementsInside();
  }

  get autocommit(): boolean {
    return this.#inside.ended;
  }

  get lost(): string | null {
    return this.#inside.lost;
  }

  get sees(): InteractiveTransaction["sees"] {
    return { facts: this.#facts, database: this.#statements };
  }

  run(call: TransactionCall): Promise<QueryAnswer> {
    return this.#alone(async () => {
      const { target, tokenId, userId } = this.#start;
      const { statements, role, batch, ...more } = call;
      this.#effects = [];
      return await runIn(
        this.#ctx,
        plainCall({
          target: { ...target, role },
          tokenId,
          operation: batch ? "batch" : "query",
          statements,
        }, {
          ...more,
          userId,
          inTransaction: true,
          rowsBefore: this.#changed.rows,
          // Of a DROP TABLE alone the rows are counted that go with it.
          ...(statements.length > 1 ? { formerNames: this.#dropped.names } : {}),
          snapshots: more.snapshots && !this.#hasSnapshot,
        }),
        this.#statements,
      );
    });
  }

  commit(): Promise<void> {
    return this.#alone(async () => await this.#throwFailure(await this.#inside.commit(), "COMMIT"));
  }

  rollback(): Promise<void> {
    return this.#alone(() => this.#inside.rollback());
  }

  savepoint(verb: SavepointVerb, name: string): Promise<void> {
    return this.#alone(async () => {
      const failure = await this.#inside.savepoint(verb, name);
      if (verb === "rollback to" && this.#facts.changed) this.#facts.change();
      if (failure === null) this.#changed.savepoint(verb, name);
      await this.#throwFailure(failure, verb.toUpperCase());
    });
  }

  abandon(): void {
    this.#inside.abandon();
  }

  rest(): string | null {
    const inside = this.#inside.rest();
    if (inside === null) return null;
    const { mode } = this.#start;
    const changed = this.#changed.rest();
    const rested: Rested = { mode, hasSnapshot: this.#hasSnapshot, changed, ...this.#dropped.rest(), inside };
    return JSON.stringify(rested);
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy) throw new TypeError("a transaction has one call at a time");
    this.#busy = true;
    try {
      return await work();
    } finally {
      this.#busy = false;
    }
  }

  async #throwFailure(failure: EngineFailure | null, sql: string): Promise<void> {
    if (failure === null) return;
    throw await failureError(this.#statements, { failure, verb: "other", target: null, sql, index: null });
  }

  /** What the stages see in place of the database. Nothing of a transaction is answered as before. */
  #statementsInside(): StatementDatabase {
    const database = this.#database;
    const inside = this.#inside;
    const now = () => inside.begun ? inside : database;
    return {
      inspect: (statements, options) => now().inspect(statements, options),
      schema: () => now().schema(),
      run: (call) => this.#runInside(call),
      record: (row) => database.record(row),
      findReplay: () => Promise.resolve(null),
      noteReplay: () => Promise.resolve(),
    };
  }

  async #runInside(call: TenantCall): Promise<TenantOutcome> {
    this.#dropped.refuseRebuild(call);
    // A count in front of the first statement would take a snapshot before the write slot.
    const outcome = this.#inside.begun
      ? await this.#dropped.watch(call, (one) => this.#inside.run(one))
      : await this.#inside.run(call);
    this.#dropped.follow(call, outcome);
    if (this.#inside.begun) {
      this.#facts.begin(outcome.ok === "stale" ? outcome.schemaVersion : call.schemaVersion);
    }
    if (outcome.ok === "stale") return outcome;
    if (outcome.ok === true || outcome.ok === false) {
      if (call.dryRun) this.#effects = effectsOf(outcome);
      else this.#changed.add(this.#rowsOf(outcome.results));
    }
    if (call.dryRun) return outcome;
    // Also after a failure: statements before it may have stayed.
    if (call.level === "schema") this.#facts.change();
    if (call.snapshot !== null && outcome.ok === true) this.#hasSnapshot = true;
    return outcome;
  }

  /** The engine does not count the rows that a REPLACE takes the place of; a dry run does, and rules go by that. */
  #rowsOf(results: readonly StatementResult[]): number {
    const written = results.reduce((rows, { rowsWritten }) => rows + rowsWritten, 0);
    return Math.max(written, affectedRows(this.#effects.slice(0, results.length)) ?? 0);
  }
}
