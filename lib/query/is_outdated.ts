// What is known of statements holds for one version of the schema. Who runs a statement hears from the store of another one;
// a call that is turned away never gets there.
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { QueryContext, UnderstoodCall } from "./query_call.ts";

/** A call, what its statements were understood by, and where that is kept. */
interface Understood {
  readonly ctx: { readonly facts: Pick<QueryContext["facts"], "seen"> };
  readonly understood: Pick<UnderstoodCall, "database" | "schemaVersion"> & {
    readonly call: Pick<UnderstoodCall["call"], "target">;
  };
}

/** Refusals that depend on what the statements do, and so on the schema. */
const BY_FACTS: ReadonlySet<ErrorCode> = new Set([
  "role_too_low",
  "rule_denied",
  "statement_refused",
  "transaction_held",
  "migration_loses_rows",
]);

/**
 * Whether a call was turned away for what its statements did under a former schema: a restore, a merge or another process has
 * changed it since. Where the store does not say, the refusal stands.
 */
export async function isOutdated({ ctx, understood }: Understood, error: unknown): Promise<boolean> {
  if (!(error instanceof AppError) || !BY_FACTS.has(error.code)) return false;
  const { call: { target }, database, schemaVersion } = understood;
  const now = await database.inspect([]).catch(() => null);
  if (now === null || now.schemaVersion === schemaVersion) return false;
  ctx.facts.seen(target.databaseId, now.schemaVersion, now.schema);
  return true;
}
