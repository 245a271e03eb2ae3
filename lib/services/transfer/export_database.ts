// Exports a database: one state of it is copied out of the store, a child of its own writes that in the form asked for, and
// the bytes go to the client as fast as it takes them.
import { type Caller, callerId } from "../../access/caller.ts";
import type { Target } from "../../access/resolve_target.ts";
import type { Meter } from "../../control/balance/meter.ts";
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { roleAtLeast } from "../../core/role.ts";
import { Bill } from "../../query/bill.ts";
import { identifyWork, recordEnd } from "../../query/record.ts";
import { quoteText } from "../../sql/words/quote.ts";
import type { LogIdentity, TenantStore } from "../../tenant/tenant_store.ts";
import type { TransferStore } from "../../tenant/transfer/transfer_store.ts";
import type { ExportInput, KeptExport, KeptExports } from "./kept_exports.ts";
import { type ExportRange, sendFile, sendText, type SentBody } from "./send_export.ts";

/** What exports need of a request. */
export interface ExportContext {
  readonly tenants: TenantStore;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly exports: KeptExports | null;
  readonly target: Target;
  readonly caller: Caller;
}

/** What is asked for: a new export, or another download of one that is kept. */
export interface ExportRequest extends ExportInput {
  readonly id: string | null;
  /** Of a SQLite file that is kept; null: all of it. */
  readonly range: ExportRange | null;
}

/** An export on its way to the client. */
export interface ExportAnswer extends SentBody {
  readonly id: string;
}

/**
 * Errors: those of the balance, `transfers_unavailable`, `too_many_transfers`, `export_refused`, `export_not_found`,
 * `range_not_satisfiable`, `storage_full`, `database_corrupt`, those of `copyOut`.
 */
export async function exportDatabase(ctx: ExportContext, request: ExportRequest): Promise<ExportAnswer> {
  const { exports, transfers } = requireTransfers(ctx);
  const bill = new Bill(ctx.meter, ctx.target);
  await bill.reserve("reads");
  const log = exportLog(ctx, request);
  const startedMs = ctx.clock.monotonicMs();
  const end = (errorKind: string | null, rowsRead: number) => {
    const durationMs = Math.round(ctx.clock.monotonicMs() - startedMs);
    bill.settle({ rowsRead, rowsWritten: 0 });
    bill.release();
    recordEnd(ctx.tenants.open(ctx.target), log, {
      errorKind,
      rowsRead,
      rowsWritten: 0,
      durationMs,
    });
  };
  try {
    const kept = request.id === null
      ? await copyOut(ctx, exports, transfers, request)
      : exports.find(request.id, ctx.target.databaseId);
    const sending = { exports, transfers, end };
    const sent = kept.input.format === "sqlite"
      ? await sendFile(kept, request.range, sending)
      : await sendText(kept, sending);
    return { id: kept.id, ...sent };
  } catch (error) {
    end(error instanceof AppError ? error.code : "unknown", 0);
    throw error;
  }
}

/** What exports and imports work with. */
interface Transfers extends Pick<KeptExports, "imports" | "places"> {
  readonly exports: KeptExports;
  readonly transfers: TransferStore;
}

/** Errors: `transfers_unavailable`. */
export function requireTransfers(
  { tenants, exports }: Pick<ExportContext, "tenants" | "exports">,
): Transfers {
  const { transfers } = tenants;
  if (transfers === null || exports === null) throw new AppError("transfers_unavailable");
  const { imports, places } = exports;
  return { exports, imports, places, transfers };
}

/**
 * Ends an export and removes its copy: whoever has asked for it may, and an admin. Errors: `transfers_unavailable`,
 * `export_not_found`, `role_too_low`.
 */
export async function cancelExport(ctx: ExportContext, id: string): Promise<void> {
  const { exports } = requireTransfers(ctx);
  const { target: { databaseId, role }, caller } = ctx;
  const { owner } = exports.find(id, databaseId);
  if (owner.callerId !== callerId(caller) && !roleAtLeast(role, "admin")) {
    throw new AppError("role_too_low", {
      message: `Use the token that has asked for this export, or one with role admin; this one has ${role}`,
    });
  }
  await exports.cancel(id, databaseId);
}

function exportLog(ctx: ExportContext, { format, table, id }: ExportRequest): LogIdentity {
  const what = `${format}${table === null ? "" : ` of ${quoteText(table)}`}${id === null ? "" : " again"}`;
  return identifyWork(ctx, { target: ctx.target, operation: "export", what: `export as ${what}` });
}

async function copyOut(
  { target, caller }: ExportContext,
  exports: KeptExports,
  transfers: TransferStore,
  { format, table, safe }: ExportRequest,
): Promise<KeptExport> {
  const kept = await exports.begin({ ...target, callerId: callerId(caller) }, { format, table, safe });
  try {
    await transfers.copyOut(target, kept.id);
    // Cancelled meanwhile, it is in no list, and nobody would ever remove the copy.
    exports.find(kept.id, target.databaseId);
    kept.state = "writing";
    return kept;
  } catch (error) {
    await exports.fail(kept);
    throw error;
  }
}
