// What migration files would do, tried on a copy of the database that nobody else can find and that is gone afterwards.
import { requireRole } from "../../access/caller.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import { AppError } from "../../core/errors.ts";
import { InTurn } from "../../core/in_turn.ts";
import { newId } from "../../core/ids.ts";
import { Bill } from "../../query/bill.ts";
import { plainCall } from "../../query/plain_call.ts";
import type { BranchDiff } from "../../sql/service/branch_report.ts";
import { writtenRename } from "../../sql/grammar/description_renames.ts";
import { foldName } from "../../sql/words/names.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { isReservedName } from "../../sql/words/service_tables.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { RuleHit } from "../../store/write_records.ts";
import { foreseeRules } from "../proposals/foresee_rules.ts";
import { rowsOf } from "../query/read_result.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { dropUnused } from "../removal/remove_records.ts";
import { diagnose } from "../schema/doctor/doctor_checks.ts";
import type { Finding } from "../schema/doctor/examined.ts";
import { readExamined } from "../schema/doctor/read_examined.ts";
import { ProbeMemory } from "../schema/doctor/row_probes.ts";
import { readRows } from "../schema/read_rows.ts";
import { applyMigrations } from "./apply_migrations.ts";
import type { Migrated } from "./migrated_before.ts";
import { type MigrateMeta, NO_FIGURES } from "./migrate_meta.ts";
import {
  type MigrationFile,
  pendingFiles,
  type ReadFile,
  readFiles,
  statementsOf,
} from "./migration_files.ts";
import { readState } from "./migration_state.ts";

/** By namespace: each rehearsal takes a copy. */
const turns = new InTurn();

/** What a rehearsal needs of a request. */
export interface RehearsalContext extends StatementsContext {
  readonly control: ControlPlane;
}

/** Files to try. */
export interface RehearsalInput {
  readonly files: readonly MigrationFile[];
  readonly rowForm: RowForm;
  readonly signal: () => AbortSignal | null;
}

/** A table that would have fewer rows, or be gone (`after` null). */
export interface LostRows {
  readonly table: string;
  readonly before: number;
  readonly after: number | null;
}

/** What the files would do. */
export interface Rehearsal extends BranchDiff {
  /** Milliseconds that all of them took, on a copy that nobody else uses. */
  readonly durationMs: number;
  readonly rowsLost: readonly LostRows[];
  /** What the doctor finds behind them and did not find before. */
  readonly findings: readonly Finding[];
  /** What rules would do with all of them together; null: nothing. */
  readonly rule: "deny" | "require_approval" | null;
  readonly hits: readonly RuleHit[];
}

/** The answer of a dry run; `rehearsal` null: nothing is pending. What the copy had, its snapshot and its log, is gone. */
export interface RehearsalAnswer {
  readonly data: Migrated & { readonly rehearsal: Rehearsal | null };
  readonly meta: MigrateMeta;
}

/**
 * Applies what is pending of the files to a copy, compares it with the database and drops it. Paid as the files would be,
 * and the comparison as a read, as usage of the database. Errors: as `applyMigrations`, but those of rules; `storage_full`.
 */
export async function rehearseMigrations(
  ctx: RehearsalContext,
  input: RehearsalInput,
): Promise<RehearsalAnswer> {
  requireRole(ctx.target, "admin");
  const { records, drift } = await readState(ctx);
  const pending = pendingFiles(await readFiles(ctx, input.files), records);
  const names = pending.map(({ name }) => name);
  const data = { applied: [], pending: names, snapshot: null, drift };
  if (pending.length === 0) return { data: { ...data, rehearsal: null }, meta: NO_FIGURES };
  const foreseen = await foresee(ctx, pending);
  const { rehearsal, meta } = await onCopy(ctx, input, (copy) => rehearse(ctx, copy, input));
  return {
    data: { ...data, rehearsal: { ...rehearsal, ...foreseen } },
    meta: { ...meta, snapshot: null, queryLogId: null },
  };
}

/** One copy of each namespace at a time: it takes as much of the disk as the database. */
function onCopy<T>(
  ctx: RehearsalContext,
  { signal }: RehearsalInput,
  work: (copy: StatementsContext) => Promise<T>,
): Promise<T> {
  return turns.run(ctx.target.namespaceId, () => {
    if (signal()?.aborted) throw new AppError("store_unavailable");
    return onOwnCopy(ctx, work);
  });
}

/** The copy is noted before it is made, so that a sweep drops it where this process ends meanwhile. */
async function onOwnCopy<T>(
  ctx: RehearsalContext,
  work: (copy: StatementsContext) => Promise<T>,
): Promise<T> {
  const { control, tenants, clock, target } = ctx;
  const databaseId = newId("db", clock.now());
  await control.databases.announce(databaseId);
  try {
    await tenants.branches.make({ databaseId, namespaceId: target.namespaceId }, target.databaseId);
    const copy = { ...target, databaseId, billedDatabaseId: target.databaseId };
    return await work({ ...ctx, target: copy });
  } finally {
    await dropUnused({ control, tenants }, databaseId);
  }
}

type Tried = Omit<Rehearsal, "rule" | "hits">;

async function rehearse(
  { meter, target, tenants, clock, rules }: RehearsalContext,
  copy: StatementsContext,
  { files, rowForm, signal }: RehearsalInput,
): Promise<{ readonly rehearsal: Tried; readonly meta: MigrateMeta }> {
  const own = await rules.of(target.databaseId) ?? [];
  const address = { namespaceSlug: target.namespaceSlug, databasePath: target.databaseSlug };
  const find = async () => {
    const examined = await readExamined(copy, new ProbeMemory());
    return await diagnose({ ...examined, address, endpoints: [], rules: own });
  };
  const [known, before] = [await find(), await countRows(copy)];
  const startedMs = clock.monotonicMs();
  const { meta } = await applyMigrations(copy, { files, baseline: false, signal });
  const durationMs = Math.round(clock.monotonicMs() - startedMs);
  const bill = new Bill(meter, target, { opensRequest: false });
  const diff = await bill.during("reads", async () => {
    const { diff, rowsRead } = await tenants.branches.diff(copy.target, rowForm);
    bill.figures = { rowsRead, rowsWritten: 0 };
    return diff;
  });
  const told = new Set(known.map(keyOf));
  const findings = (await find()).filter((one) => !told.has(keyOf(one)));
  const rowsLost = lostRows(before, await countRows(copy), diff);
  return { rehearsal: { ...diff, durationMs, rowsLost, findings }, meta };
}

function keyOf({ code, table, column, message }: Finding): string {
  return JSON.stringify([code, table, column, message]);
}

const TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name";

async function countRows(ctx: StatementsContext): Promise<ReadonlyMap<string, number>> {
  const [listed] = await readRows(ctx, [TABLES]);
  const names = rowsOf<[name: string]>(listed).flatMap(([name]) => isReservedName(name) ? [] : [name]);
  if (names.length === 0) return new Map();
  const counted = await readRows(ctx, names.map((name) => `SELECT count(*) FROM ${quoteIdentifier(name)}`));
  return new Map(names.map((name, at) => [name, rowsOf<[rows: number]>(counted[at])[0]?.[0] ?? 0]));
}

function lostRows(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  { schema }: BranchDiff,
): LostRows[] {
  const now = new Map([...after].map(([name, rows]) => [foldName(name), rows]));
  const renamed = new Map(schema.statements.flatMap((sql) => {
    const rename = writtenRename(sql);
    return rename?.column === null ? [[foldName(rename.table), foldName(rename.to)] as const] : [];
  }));
  return [...before].flatMap(([table, rows]) => {
    const name = foldName(table);
    const left = now.get(name) ?? now.get(renamed.get(name) ?? "") ?? null;
    return rows > (left ?? 0) ? [{ table, before: rows, after: left }] : [];
  });
}

/** What rules would do, whatever the number of rows. */
async function foresee(
  ctx: StatementsContext,
  pending: readonly ReadFile[],
): Promise<Pick<Rehearsal, "rule" | "hits">> {
  const { target, tokenId } = ctx;
  const statements = statementsOf(pending);
  const call = plainCall({ target, tokenId, operation: "migrate", statements });
  const each = await foreseeRules(ctx, call, [{ ownRows: null, cascadedRows: 0, plan: [], preview: null }]);
  const stopping = each.filter(({ rule }) => rule !== undefined);
  const denying = stopping.filter(({ rule }) => rule === "deny");
  const those = denying.length > 0 ? denying : stopping;
  return { rule: those[0]?.rule ?? null, hits: those.flatMap(({ hits }) => hits ?? []).slice(0, MAX_HITS) };
}

/** Hits that an answer shows. */
const MAX_HITS = 20;
