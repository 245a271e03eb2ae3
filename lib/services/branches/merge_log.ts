// The one row that a merge leaves in its trunk's query log, looks before it included.
import type { Clock } from "../../core/clock.ts";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { LogIdentity, TenantDatabase } from "../../tenant/tenant_store.ts";
import type { BranchContext } from "./branch_context.ts";
import type { Bill } from "./price_call.ts";

/** After these a merge may have been kept, and its row with it. */
const UNKNOWN_END: ReadonlySet<ErrorCode> = new Set(["outcome_unknown", "store_unavailable"]);

export class MergeLog {
  /** A merge that is kept writes it in its own transaction; what else comes of one is noted here. */
  readonly row: LogIdentity;
  readonly #database: TenantDatabase;
  readonly #clock: Clock;
  readonly #startedMs: number;

  constructor(
    { target: { databaseId, namespaceId }, token, tenants, clock }: BranchContext,
    { ref, mode, dryRun }: { readonly ref: string; readonly mode: string; readonly dryRun: boolean },
  ) {
    const ts = clock.now();
    this.row = {
      ...{ id: newId("qry", ts), ts, namespaceId, databaseId, tokenId: token.tokenId, userId: null },
      ...{ operation: "merge", statementCount: 1 },
      sql: `-- ${dryRun ? "dry run: " : ""}${mode} of branch ${ref}`,
    };
    this.#database = tenants.open(databaseId, namespaceId);
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  failed(bill: Bill, error: unknown): void {
    if (!(error instanceof AppError) || UNKNOWN_END.has(error.code)) return;
    this.ended(bill, error.facts.detail?.kind ?? error.code);
  }

  /** Nothing was kept. `errorKind`: of the statement that failed, otherwise a code; null for a dry run that ended well. */
  ended({ figures }: Bill, errorKind: string | null): void {
    const durationMs = Math.round((this.#clock.monotonicMs() - this.#startedMs) * 1000) / 1000;
    const { rowsRead, rowsWritten } = figures ?? { rowsRead: 0, rowsWritten: 0 };
    const status = errorKind === null ? "ok" : "error";
    this.#database.record({ ...this.row, status, errorKind, rowsRead, rowsWritten, durationMs });
  }
}
