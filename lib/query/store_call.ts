// A call of statements in the form in which a tenant store takes it.
import { type ChangeStep, kindsOfActions } from "../sql/service/change_rows.ts";
import { moveDescriptions } from "../sql/grammar/description_renames.ts";
import { replacingOf } from "../sql/grammar/uncounted_rows.ts";
import type { StatementFacts } from "../sql/grammar/statement_facts.ts";
import type { FootprintAsk } from "../engine/footprint/footprint.ts";
import type { ReplayKeys } from "../tenant/stored_answer.ts";
import type { Level } from "../engine/guard.ts";
import type { TenantOutcome } from "../tenant/tenant_store.ts";
import type { TenantStatement } from "../tenant/tenant_statement.ts";
import { type Totals, totals } from "./answer.ts";
import { migrationAsk } from "./migration_ask.ts";
import type { QueryCall, QueryContext, QueryStatement, UnderstoodCall } from "./query_call.ts";
import type { FailedOutcome } from "../tenant/what_stays.ts";

/** Milliseconds that a dry run may hold the write slot. */
const DRY_RUN_TIMEOUT_MS = 5000;
/** Milliseconds that a dry run may hold the write slot where its footprint is recorded, which an approval needs. */
const FOOTPRINT_TIMEOUT_MS = 15_000;

/** Bounds of reads of the service's own, which the operator's bounds on callers' results must not cut. */
const OWN_BOUNDS = { rows: 2_000_000, bytes: 128 * 1024 * 1024 };

/** The outcome of a call or of a dry run. */
export type EndedOutcome = FailedOutcome | Extract<TenantOutcome, { ok: true }>;

/** What a store needs of a call beside its statements. */
export interface StoreOptions {
  /** The keys under which the answer is stored in the call's own transaction; null: it is not stored. */
  readonly replay: ReplayKeys | null;
  /** Label of the snapshot to take first. */
  readonly snapshot: string | null;
  /** No statement runs: only the tables of the footprint are asked for. */
  readonly tablesOnly?: boolean;
  /** In place of the call's own. */
  readonly signal?: QueryCall["signal"];
}

/** Runs the call in the store. `stale`: the schema has changed since the facts were learned. */
export function callStore(
  ctx: QueryContext,
  understood: UnderstoodCall,
  { replay, snapshot, tablesOnly = false, signal }: StoreOptions,
): Promise<TenantOutcome> {
  const { call, facts } = understood;
  // The statements of a batch mostly have one text, and so the same facts.
  const distinct = facts.length === 1 ? facts : [...new Set(facts)];
  const level = call.migration ? "schema" : highestLevel(distinct);
  return understood.database.run({
    level,
    statements: tablesOnly
      ? []
      : facts.map((one, index) => storeStatement(call, call.statements[index], one)),
    paramSets: tablesOnly ? null : call.paramSets,
    rowidOf: call.paramSets === null ? null : insertedTable(facts[0]),
    atomic: call.atomic,
    schemaVersion: understood.schemaVersion,
    schema: understood.schema,
    bounds: call.operation === "service" && !call.dryRun ? OWN_BOUNDS : ctx.bounds,
    rowForm: call.rowForm,
    foreignKeysOff: distinct.some((one) => one.pragma?.foreignKeysOff === true),
    readsLog: distinct.some((one) => one.readsLog),
    log: call.operation === "service" ? null : understood.log,
    // A batch that is not atomic runs up to the statement that could not be understood, and its row names that error.
    failsWith: call.operation === "service" ? null : understood.misunderstood?.failure.kind ?? null,
    replay: level === "read" ? null : replay,
    snapshot,
    dryRun: call.dryRun,
    affected: call.affected,
    footprint: call.footprint && { ...call.footprint, ...footprintTables(facts) },
    migration: call.migration ? migrationAsk(call.migration, facts, snapshot) : null,
    timeoutMs: call.dryRun ? dryRunTimeoutMs(call) : null,
    auditTables: level === "read" ? null : [...new Set(distinct.flatMap(changedTables))].sort(),
    ...(level === "read" ? {} : { changeKinds: changeKinds(distinct, level) }),
    ...(call.atomic || distinct.length === 1 ? {} : { changeSteps: changeSteps(facts) }),
    signal: signal ?? call.signal,
  });
}

/** What stays of a batch that stops in the middle. Each name stands once: a statement may write thousands of tables. */
function changeSteps(facts: readonly StatementFacts[]): ChangeStep[] {
  const steps: ChangeStep[] = [];
  const names = new Set<string>();
  let known = 0;
  for (const [from, one] of facts.entries()) {
    const level = levelOf(one);
    if (one === facts[from - 1] || level === "read") continue;
    const tables = new Set(changedTables(one)).difference(names);
    const kinds = changeKinds([one], level);
    if (steps.length > 0 && tables.size === 0 && (kinds & ~known) === 0) continue;
    for (const name of tables) names.add(name);
    known |= kinds;
    steps.push({ from, tables: [...tables], kinds });
  }
  return steps;
}

/** Behind a rename rows stand under a name under which the engine has written nothing. */
function changedTables({ tablesWritten, rename }: StatementFacts): readonly string[] {
  return rename?.column === null ? [...tablesWritten, rename.to] : tablesWritten;
}

/** The rows that the engine has read and written, undone or not, which are paid for. */
export function workOf(outcome: EndedOutcome): Totals {
  return outcome.ok ? totals(outcome.results) : outcome.work;
}

/** The table of an INSERT that can only add rows to it; null: the id of the last row added tells nothing. */
function insertedTable(facts: StatementFacts | undefined): string | null {
  if (facts?.verb !== "insert" && facts?.verb !== "replace") return null;
  const { target, actions } = facts;
  // It may change a row in place of adding one.
  return target === null || actions.includes(`update ${target}`) ? null : target;
}

/** Without any of the parts that only few statements have, no empty object is spread for them. */
function storeStatement(
  call: UnderstoodCall["call"],
  statement: QueryStatement | undefined,
  facts: StatementFacts,
): TenantStatement {
  const { sql, params } = statement ?? { sql: "", params: [] };
  const level = facts.verb === "explain" ? "schema" : levelOf(facts);
  const counts = countsRows(call) || facts.schemaRows !== null;
  const hands = statement?.takes !== undefined || statement?.returns !== undefined;
  if (!counts && facts.rename === null && !hands) return { sql, params, level };
  return {
    sql,
    params,
    level,
    ...handedPart(statement),
    ...replacingPart(call, facts),
    ...schemaRowsPart(call, facts),
    ...(facts.rename === null || call.dryRun ? {} : { after: moveDescriptions(facts.rename) }),
  };
}

/** What it takes of earlier rows, and returns to later statements. */
function handedPart({ takes, returns }: Partial<QueryStatement> = {}) {
  return { ...(takes === undefined ? null : { takes }), ...(returns === undefined ? null : { returns }) };
}

/** Whether the number of changed rows is asked for: a part of a file tells it to the parts behind it. */
function countsRows({ dryRun, affected, operation }: UnderstoodCall["call"]): boolean {
  return dryRun || affected !== null || operation === "import";
}

/** How to count the rows that conflicts replace, where the number of changed rows is asked for. */
function replacingPart(call: UnderstoodCall["call"], facts: StatementFacts) {
  const replacing = countsRows(call) ? replacingOf(facts) : null;
  return replacing === null ? {} : { replacing };
}

/**
 * How to count the rows of a schema change: those it writes are billed; those it removes count where their number is
 * asked for.
 */
function schemaRowsPart(call: UnderstoodCall["call"], { schemaRows }: StatementFacts) {
  if (schemaRows === null) return {};
  return schemaRows.after !== null || countsRows(call) ? { schemaRows } : {};
}

function dryRunTimeoutMs({ footprint }: UnderstoodCall["call"]): number {
  return footprint === null ? DRY_RUN_TIMEOUT_MS : FOOTPRINT_TIMEOUT_MS;
}

/** Everything that the statements write, and the views that they name. */
function footprintTables(facts: readonly StatementFacts[]): Pick<FootprintAsk, "tables" | "replaced"> {
  const writes = facts.filter((one) => levelOf(one) !== "read");
  const named = writes.flatMap(({ tablesWritten, target }) =>
    target ? [...tablesWritten, target] : tablesWritten
  );
  return {
    tables: [...new Set(named)].sort(),
    replaced: [...new Set(writes.flatMap(({ replacedTables }) => replacedTables))].sort(),
  };
}

function changeKinds(facts: readonly StatementFacts[], level: Level): number {
  return kindsOfActions(facts.flatMap(({ actions }) => actions), level === "schema");
}

function highestLevel(facts: readonly StatementFacts[]): Level {
  let highest: Level = "read";
  for (const one of facts) {
    const level = levelOf(one);
    if (level === "schema" || highest === "read") highest = level;
  }
  return highest;
}

function levelOf(facts: StatementFacts): Level {
  return facts.class === "refused" ? "read" : facts.class;
}
