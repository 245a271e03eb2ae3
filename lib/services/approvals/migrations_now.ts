// What held migration files would do now, for whoever redeems them and for the person who decides.
import { type HeldCall, rewriteHeldCall } from "../../query/held_call.ts";
import { newestOf } from "../../sql/service/migration_records.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { pendingFiles, readFiles, statementsOf } from "../migrations/migration_files.ts";
import { readState } from "../migrations/migration_state.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { effectNow } from "./effect_now.ts";

/** The files that are still to be applied, with the state of the database that they wait for now. */
export interface MigrationsNow {
  readonly held: HeldCall;
  readonly text: string;
  readonly affectedRows: number | null;
}

/** Errors: those of `pendingFiles`, and those of the pipeline for a file that would fail now. */
export async function migrationsNow(
  ctx: StatementsContext,
  record: Pick<ApprovalRecord, "tolerance">,
  held: HeldCall,
): Promise<MigrationsNow> {
  const { schemaVersion } = await ctx.tenants.open(ctx.target).schema();
  const { records } = await readState(ctx);
  const pending = pendingFiles(await readFiles(ctx, held.migrations?.files ?? []), records);
  const statements = statementsOf(pending);
  const files = pending.map(({ name, sql }) => ({ name, sql }));
  const waiting = { ...held, statements, migrations: { files, after: newestOf(records), schemaVersion } };
  const { affectedRows, ...preview } = statements.length === 0
    ? { affectedRows: 0, effects: [], footprint: null }
    : await effectNow(ctx, record, { held: waiting });
  const now = { ...waiting, ...preview };
  return { held: now, text: rewriteHeldCall(waiting, preview), affectedRows };
}
