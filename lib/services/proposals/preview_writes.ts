// What writes would do, exactly and without doing them.
import { invalidInput } from "../../core/errors.ts";
import { plainCall } from "../../query/plain_call.ts";
import type { QueryCall, QueryMeta } from "../../query/query_call.ts";
import { run } from "../../query/run.ts";
import type { JsonValue, RowPreview, StatementEffect } from "../../engine/statement_effect.ts";
import { type ForeseenRule, foreseeRules } from "./foresee_rules.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import {
  type StatementsContext,
  type StatementsInput,
  toParamSets,
  toStatements,
} from "../query/run_statements.ts";

/** What one statement would do, as the API shows it. `rule` and `hits` are absent where no rule would stop it. */
export interface WritePreview extends ForeseenRule {
  readonly sql: string;
  readonly plan: readonly (readonly JsonValue[])[];
  /** The statement's own rows; null for changes of the schema and where the time was up. */
  readonly estimatedAffectedRows: number | null;
  /** What triggers and foreign keys add; null where the time was up. */
  readonly cascadedRows: number | null;
  /** `read` only beside writes, in a batch. */
  readonly action: "write" | "schema" | "read";
  readonly preview: RowPreview | null;
}

/** A call of writes and what it would do. */
export interface Previewed {
  readonly call: QueryCall;
  /** One for each statement. */
  readonly data: readonly WritePreview[];
  readonly effects: readonly StatementEffect[];
  readonly meta: QueryMeta;
}

/** Writes that are to be previewed. */
export interface PreviewInput {
  readonly statements: StatementsInput["statements"];
  /** As `StatementsInput` has them. */
  readonly paramSets?: StatementsInput["paramSets"];
  readonly atomic: boolean;
  readonly batch: boolean;
  readonly rowForm: RowForm;
  /** Rows that the call may change at most; null: any number. */
  readonly maxAffected: number | null;
  /** Absent: nobody can stop it. */
  readonly signal?: () => AbortSignal | null;
}

/** Errors: `validation_failed` where nothing writes; every error that the writes themselves would raise. */
export async function previewWrites(ctx: StatementsContext, input: PreviewInput): Promise<Previewed> {
  const { target, tokenId } = ctx;
  const { statements, paramSets = null, atomic, batch, rowForm, maxAffected, signal = () => null } = input;
  await ctx.facts.readAhead(statements.map(({ sql }) => sql));
  const actions = statements.map(({ sql }) => actionOf(ctx, sql));
  if (actions.every((action) => action === "read")) {
    throw invalidInput(
      batch && paramSets === null ? "statements" : "sql",
      "Send a statement that writes; this only reads",
    );
  }
  const call = plainCall({ target, tokenId, operation: "propose", statements: toStatements(statements) }, {
    paramSets: toParamSets(paramSets),
    atomic,
    batch,
    rowForm,
    snapshots: true,
    signal,
  });
  const answer = await run(ctx, { ...call, maxAffected, dryRun: true });
  const effects = answer.results.flatMap(({ effect }) => effect ?? []);
  const foreseen = await foreseeRules(ctx, call, effects);
  const data = statements.map(({ sql }, index) => ({
    sql,
    plan: effects[index]?.plan ?? [],
    estimatedAffectedRows: effects[index]?.ownRows ?? null,
    cascadedRows: effects[index]?.cascadedRows ?? null,
    action: effects[index]?.ownRows === null ? "schema" : actions[index] ?? "write",
    preview: effects[index]?.preview ?? null,
    ...foreseen[index],
  }));
  return { call, data, effects, meta: answer.meta };
}

/** A text that does not parse counts as a write: the pipeline's words about it are better. */
function actionOf(ctx: StatementsContext, sql: string): WritePreview["action"] {
  const result = ctx.facts.syntax(sql);
  if (!result.ok) return "write";
  if (result.syntax.class === "read") return "read";
  return result.syntax.class === "schema" ? "schema" : "write";
}
