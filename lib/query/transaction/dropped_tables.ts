// Tables whose DROP takes rows of other tables along, as foreign keys ask for it. What gives their name to a copy, before or
// after it, rebuilds them, and means to keep those rows.
import { AppError } from "../../core/errors.ts";
import { FormerNames, type RestedNames } from "../../sql/grammar/former_names.ts";
import { foldName } from "../../sql/words/names.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { PLAIN_ROWS } from "../../sql/words/row_form.ts";
import type { Syntax } from "../../sql/grammar/syntax.ts";
import type { TenantCall, TenantOutcome } from "../../tenant/tenant_store.ts";
import { copyFirst } from "../authorise.ts";
import type { Facts } from "../facts_cache.ts";
import { effectsOf } from "../preview.ts";

/** Tables that are remembered, the last ones. */
const MAX_TABLES = 100;

/** A name, folded, and how many rows of other tables went or changed with it. */
export type DroppedTable = readonly [name: string, rows: number];

/** As they rest with their transaction. */
export interface RestedTables {
  readonly dropped?: readonly DroppedTable[];
  /** Absent in a text of an earlier version. */
  readonly names?: RestedNames;
}

/** Those of one transaction. A table that is dropped again counts as it was the last time. */
export class DroppedTables {
  #tables: readonly DroppedTable[];
  readonly #names: FormerNames;

  constructor(private readonly facts: Pick<Facts, "syntax">, { dropped = [], names }: RestedTables) {
    this.#tables = dropped;
    this.#names = new FormerNames(names);
  }

  /** Refuses a call that begins with giving a copy the name of such a table. Errors: `migration_loses_rows`. */
  refuseRebuild(call: TenantCall): void {
    if (this.#tables.length === 0) return;
    const rename = this.#firstSyntax(call)?.rename;
    if (rename?.column !== null) return;
    const [, rows] = this.#tables.find(([name]) => name === foldName(rename.to)) ?? [];
    if (rows === undefined) return;
    throw new AppError("migration_loses_rows", {
      message: `Roll back, and send a migration or one batch that begins with PRAGMA foreign_keys=OFF; ` +
        `the DROP TABLE of "${rename.to}" has deleted or changed ${rows} rows that refer to it`,
    });
  }

  /**
   * Runs a call; of one that only drops a table notes what goes with it. `run` runs it, and a count before it. Errors:
   * `migration_loses_rows` where another table has the name of the one that is dropped.
   */
  async watch(call: TenantCall, run: (call: TenantCall) => Promise<TenantOutcome>): Promise<TenantOutcome> {
    const dropped = call.statements.length === 1 && !call.dryRun ? this.#droppedBy(call) : null;
    if (dropped === null) return await run(call);
    const own = countIn(await run(countCall(call, dropped)));
    const replaced = this.#names.replaced(dropped);
    if (own !== null && replaced !== null) {
      const others = cascadedBy(await run({ ...call, ...NOTHING_BESIDE, dryRun: true })) - own;
      if (others > 0) throw losing(dropped, replaced, others);
    }
    const outcome = await run(call);
    if (outcome.ok !== true || own === null) return outcome;
    const others = (outcome.results[0]?.rowsWritten ?? 0) - own;
    const name = foldName(dropped);
    const kept = this.#tables.filter(([known]) => known !== name);
    this.#tables = others > 0 ? [...kept, [name, others] as const].slice(-MAX_TABLES) : kept;
    return outcome;
  }

  /** The names that tables had before. */
  get names(): RestedNames {
    return this.#names.rest();
  }

  rest(): RestedTables {
    return { dropped: this.#tables, names: this.names };
  }

  /**
   * Takes note of the names that a call has given to tables. They stay known behind a ROLLBACK TO: then it refuses too much, at
   * most.
   */
  follow({ level, dryRun, statements }: TenantCall, outcome: TenantOutcome): void {
    if (level !== "schema" || dryRun || outcome.ok !== true) return;
    for (const { sql } of statements) {
      const read = this.facts.syntax(sql);
      if (read.ok) this.#names.follow(read.syntax);
    }
  }

  #droppedBy(call: TenantCall): string | null {
    const syntax = this.#firstSyntax(call);
    return syntax?.kind === "DropTableStmt" ? syntax.target : null;
  }

  #firstSyntax({ level, statements: [first] }: TenantCall): Syntax | null {
    const read = level === "schema" && first ? this.facts.syntax(first.sql) : null;
    return read?.ok ? read.syntax : null;
  }
}

const NOTHING_BESIDE = {
  log: null,
  auditTables: null,
  changeKinds: 0,
  replay: null,
  snapshot: null,
  affected: null,
} as const;

function losing(dropped: string, replaced: string, rows: number): AppError {
  return new AppError("migration_loses_rows", {
    message:
      `${copyFirst(replaced)}, in a migration or one batch that begins with PRAGMA foreign_keys=OFF; ` +
      `the DROP TABLE of "${dropped}" would delete or change ${rows} rows that refer to it`,
  });
}

/** The rows that a dry run would remove or change, those of the table that is dropped among them. */
function cascadedBy(outcome: TenantOutcome): number {
  if (outcome.ok !== true && outcome.ok !== false) return 0;
  return effectsOf(outcome)[0]?.cascadedRows ?? 0;
}

/** Counts the rows of the table that the call drops, as a read of the service's own. */
function countCall(call: TenantCall, table: string): TenantCall {
  const sql = `SELECT count(*) FROM main.${quoteIdentifier(table)}`;
  return {
    ...call,
    ...NOTHING_BESIDE,
    level: "read",
    statements: [{ sql, params: [], level: "read" }],
    rowForm: PLAIN_ROWS,
  };
}

function countIn(outcome: TenantOutcome): number | null {
  if (outcome.ok !== true) return null;
  const { rows }: { readonly rows: readonly (readonly unknown[])[] } = JSON.parse(
    `${outcome.results[0]?.json}}`,
  );
  return Number(rows[0]?.[0]);
}
