// Step 10, the engine's part: the stored statement with its values, through the pipeline that every statement takes.
import { AppError, type SqlErrorKind } from "../../core/errors.ts";
import { plainCall } from "../../query/plain_call.ts";
import type { QueryAnswer } from "../../query/query_call.ts";
import { run } from "../../query/run.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";

/** Errors: every code of the pipeline. What is the owner's business (rules, the schema) is not told. */
export async function runStatement(
  { query }: Pick<PublishedContext, "query">,
  { record, target, tokenId, session, signal }: EndpointCall,
  params: readonly SqlParameter[],
  { integersAsStrings }: { readonly integersAsStrings: boolean } = { integersAsStrings: false },
): Promise<QueryAnswer> {
  const statements = [{ sql: record.spec.sql, params }];
  const call = plainCall({ target, tokenId, operation: "endpoint", statements }, {
    userId: session?.userId ?? null,
    snapshots: true,
    integersAsStrings,
    signal,
  });
  try {
    return await run(query, call);
  } catch (error) {
    throw error instanceof AppError ? publicError(error) : error;
  }
}

/** Kinds that say something about the caller's values; the others say that the statement no longer fits the schema. */
const callersKinds: ReadonlySet<SqlErrorKind> = new Set([
  ...["unique_violation", "not_null_violation", "foreign_key_violation", "check_violation"] as const,
  ...["type_mismatch", "database_locked", "invalid_text", "timeout", "result_too_large", "too_big"] as const,
]);

function publicError(error: AppError): AppError {
  if (error.code === "approval_required" || error.code === "rule_denied") return new AppError(error.code);
  const { detail } = error.facts;
  if (detail === undefined || callersKinds.has(detail.kind)) return error;
  return new AppError(error.code, {
    message: "Tell the owner of this endpoint; its statement failed",
    detail: {
      ...{ kind: detail.kind, table: null, column: null },
      hint: "The stored statement and the schema no longer fit together",
    },
  });
}
