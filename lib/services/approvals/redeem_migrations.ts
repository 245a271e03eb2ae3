// Redeems the approval of migration files: its token is claimed already. They are applied to the schema, and behind the
// migration, for which they were approved, or wait for another look.
import { AppError } from "../../core/errors.ts";
import type { HeldCall } from "../../query/held_call.ts";
import type { HeldMigrations } from "../../query/migration_ask.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { applyMigrations, type MigrateAnswer } from "../migrations/apply_migrations.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { afterRefusal, lookAgain } from "./after_failure.ts";
import { migrationsNow } from "./migrations_now.ts";

type Held = HeldCall & {
  readonly migrations: HeldMigrations;
  readonly signal: () => AbortSignal | null;
};

/** Applies them. Errors: `effect_changed`, then a person has to look again; those of `applyMigrations`. */
export async function redeemMigrations(
  ctx: StatementsContext,
  record: ApprovalRecord,
  { signal, ...held }: Held,
): Promise<MigrateAnswer> {
  const { files, after, schemaVersion } = held.migrations;
  const approved = {
    after,
    schemaVersion,
    covers: held.covers,
    snapshotFirst: record.snapshotFirst ?? false,
  };
  try {
    const answer = await applyMigrations(ctx, { files, baseline: false, approved, signal });
    await ctx.approvals.noteRan(record, answer.meta);
    return answer;
  } catch (error) {
    if (isUntouched(error)) throw await lookAgain(ctx, record, await lookNow(ctx, record, held));
    await afterRefusal(ctx, record, error);
    throw error;
  }
}

/** Whether the database was another one before the first file was applied. */
function isUntouched(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== "effect_changed") return false;
  const applied = error.facts.extra?.["applied"];
  return Array.isArray(applied) && applied.length === 0;
}

async function lookNow(ctx: StatementsContext, record: ApprovalRecord, held: HeldCall) {
  try {
    const { affectedRows, text } = await migrationsNow(ctx, record, held);
    return { affectedRows, text };
  } catch {
    // What they would do is not known: whoever looks is told why.
    return { affectedRows: null, text: null };
  }
}
