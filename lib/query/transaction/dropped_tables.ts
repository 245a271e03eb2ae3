// Tables whose DROP took rows of other tables along, as foreign keys ask for it. What then gives their name to a copy rebuilds
// them, and means to keep those rows.
import { AppError } from "../../core/errors.ts";
import { foldName } from "../../sql/names.ts";
import { quoteIdentifier } from "../../sql/quote.ts";
import { PLAIN_ROWS } from "../../sql/row_form.ts";
import type { Syntax } from "../../sql/syntax.ts";
import type { TenantCall, TenantOutcome } from "../../tenant/tenant_store.ts";
import type { Facts } from "../facts_cache.ts";

/** Tables that are remembered, the last ones. */
const MAX_TABLES = 100;

/** A name, folded, and how many rows of other tables went or changed with it. */
export type DroppedTable = readonly [name: string, rows: number];

/** Those of one transaction. A table that is dropped again counts as it was the last time. */
export class DroppedTables {
  #tables: readonly DroppedTable[];

  constructor(private readonly facts: Pick<Facts, "syntax">, tables: readonly DroppedTable[] = []) {
    this.#tables = tables;
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

  /** Runs a call; of one that only drops a table notes what goes with it. `run` runs it, and a count before it. */
  async watch(call: TenantCall, run: (call: TenantCall) => Promise<TenantOutcome>): Promise<TenantOutcome> {
    const dropped = call.statements.length === 1 && !call.dryRun ? this.#droppedBy(call) : null;
    if (dropped === null) return await run(call);
    const own = countIn(await run(countCall(call, dropped)));
    const outcome = await run(call);
    if (outcome.ok !== true || own === null) return outcome;
    const others = (outcome.results[0]?.rowsWritten ?? 0) - own;
    const name = foldName(dropped);
    const kept = this.#tables.filter(([known]) => known !== name);
    this.#tables = others > 0 ? [...kept, [name, others] as const].slice(-MAX_TABLES) : kept;
    return outcome;
  }

  rest(): readonly DroppedTable[] {
    return this.#tables;
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

/** Counts the rows of the table that the call drops, as a read of the service's own. */
function countCall(call: TenantCall, table: string): TenantCall {
  const sql = `SELECT count(*) FROM main.${quoteIdentifier(table)}`;
  return {
    ...call,
    level: "read",
    statements: [{ sql, params: [], level: "read" }],
    rowForm: PLAIN_ROWS,
    log: null,
    auditTables: null,
    changeKinds: 0,
    replay: null,
    snapshot: null,
    affected: null,
  };
}

function countIn(outcome: TenantOutcome): number | null {
  if (outcome.ok !== true) return null;
  const { rows }: { readonly rows: readonly (readonly unknown[])[] } = JSON.parse(
    `${outcome.results[0]?.json}}`,
  );
  return Number(rows[0]?.[0]);
}
