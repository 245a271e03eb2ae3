// Redeems the approval of migration files: its token is claimed already. They are applied to the schema, and behind the
// migration, for which they were approved, or wait for another look.
import { AppError } from "../../core/errors.ts";
import type { HeldCall } from "../../query/held_call.ts";
import type { HeldMigrations } from "../../query/migration_ask.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { applyMigrations } from "../migrations/apply_migrations.ts";
import { type MigrateAnswer, migratedBefore } from "../migrations/migrated_before.ts";
import type { StepContext } from "../plan_step.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { afterRefusal, lookAgain } from "./after_failure.ts";
import { migrationsNow } from "./migrations_now.ts";

type Held = HeldCall & {
  readonly migrations: HeldMigrations;
  readonly signal: () => AbortSignal | null;
};

/** Applies them. Errors: `effect_changed`, then a person has to look again; those of `applyMigrations`. */
export async function redeemMigrations(
  ctx: StatementsContext & StepContext,
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
    const input = { files, baseline: false, approved, signal, replay: ctx.replay ?? null };
    const { data, meta } = await applyMigrations(ctx, input);
    await ctx.approvals.noteRan(record, meta);
    return { data, meta };
  } catch (error) {
    if (isUntouched(error)) throw await lookAgain(ctx, record, await lookNow(ctx, record, held));
    await afterRefusal(ctx, record, error);
    throw error;
  }
}

/** What a redemption of them has answered, whose process may have ended since; null: nothing. Errors: those of the store. */
export async function migrationsRedeemed(
  ctx: StatementsContext & StepContext,
  record: ApprovalRecord,
): Promise<MigrateAnswer | null> {
  const earlier = await migratedBefore(ctx);
  if (earlier !== null && record.outcome?.kind !== "ran") await ctx.approvals.noteRan(record, earlier.meta);
  return earlier;
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
