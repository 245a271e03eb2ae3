// What a held call of statements would do now, for whoever redeems it and for the person who decides about it.
import { newSalt } from "../../engine/footprint/footprint.ts";
import { affectedRows, type CallPreview, type HeldCall } from "../../query/held_call.ts";
import { plainCall } from "../../query/plain_call.ts";
import { run } from "../../query/run.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import type { StatementsContext } from "../query/run_statements.ts";

/** The result of another preview. */
export interface EffectNow extends CallPreview {
  readonly affectedRows: number | null;
}

/**
 * Runs the call and undoes it. It is a call of the service's own: free, and without a row in the log. `salt`: that of
 * the footprint with which the new one is to be compared. Errors: those of the pipeline, such as an SQL failure.
 */
export async function effectNow(
  ctx: StatementsContext,
  { tolerance }: Pick<ApprovalRecord, "tolerance">,
  { held, salt = newSalt() }: { readonly held: HeldCall; readonly salt?: string },
): Promise<EffectNow> {
  const { statements, paramSets = null, atomic, batch, rowForm } = held;
  const { target, tokenId } = ctx;
  const { results, meta, footprint = null } = await run(
    ctx,
    plainCall({ target, tokenId, operation: "service", statements }, {
      paramSets,
      atomic,
      batch,
      rowForm,
      dryRun: true,
      // Migrations are bound to their files and to the schema.
      footprint: held.migrations ? null : { salt, each: tolerance > 0, expects: null },
    }),
  );
  const effects = results.flatMap(({ effect }) => effect ?? []);
  return { affectedRows: affectedRows(effects), effects, footprint, rowsRead: meta.rowsRead };
}
