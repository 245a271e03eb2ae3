// What a call has answered that has applied migration files, and how it is read back: the commit of the last file has it.
import { type AnswerContext, answerOf } from "../../query/answer.ts";
import type { SchemaChange } from "../../sql/service/branch_report.ts";
import { answerOfStep, type StepContext } from "../plan_step.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { addFigures, type MigrateMeta } from "./migrate_meta.ts";

/** What has become of the files. */
export interface Migrated {
  /** Names of the files that this call has applied, in their order. */
  readonly applied: readonly string[];
  /** Names of those that are still to be applied. */
  readonly pending: readonly string[];
  /** Label of the snapshot before the first of them that is destructive; null: none was taken. */
  readonly snapshot: string | null;
  /** What had changed in the schema since the newest migration before; null: there was none. */
  readonly drift: readonly SchemaChange[] | null;
}

/** The answer of a call. */
export interface MigrateAnswer {
  readonly data: Migrated;
  readonly meta: MigrateMeta;
}

/**
 * What the same step, or the same redemption, has answered when it had applied its last file; null: nothing. Errors: those of
 * `answerOfStep`.
 */
export async function migratedBefore(ctx: StatementsContext & StepContext): Promise<MigrateAnswer | null> {
  const stored = await answerOfStep(ctx, ctx.tenants.open(ctx.target));
  if (stored === null) return null;
  const context: AnswerContext = JSON.parse(stored.context);
  const { data, meta: before }: MigrateAnswer = JSON.parse(context.before ?? "");
  const meta = addFigures(before, answerOf(stored, context).meta);
  return { data: { ...data, snapshot: meta.snapshot }, meta };
}
