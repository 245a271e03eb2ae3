// The audit of a namespace: what people and tokens did in it, or the mutations of one of its databases, newest first.
import { callerId, requireOperator } from "../../access/caller.ts";
import { type AuditPageInput, SERVICE_AUDIT } from "../../control/audit.ts";
import { isoTime } from "../../core/clock.ts";
import type { QueryContext } from "../../query/query_call.ts";
import { writtenTables } from "../../sql/grammar/written_tables.ts";
import type { AuditFacts } from "../../store/audit_records.ts";
import { readableDatabase, trunkTarget } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";
import { notedName } from "../note_act.ts";
import { readableNamespace } from "../namespaces/namespace_record.ts";
import { readOwnRows } from "../query/read_own.ts";
import { requireCursor, type ShownPage } from "../shown_page.ts";

/** What it needs of a request. */
export interface AuditContext extends ManageContext {
  readonly query: QueryContext;
}

/** Which entries; `database` null: those of the namespace. */
export interface AuditInput extends AuditPageInput {
  readonly namespaceSlug: string;
  readonly database: string | null;
}

/** One entry, of either kind. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  /** Id of the API token or member, or `operator`. */
  readonly actor: string;
  /** At that moment; in a database's own audit, which keeps ids only, at present, and null for who is gone. */
  readonly actorName: string | null;
  readonly action: string;
  readonly database: string | null;
  readonly target: string | null;
  readonly facts: AuditFacts;
}

/** One page. Errors: `validation_failed` for a cursor that is none, those of `readableNamespace` and of the store. */
export async function readAudit(
  ctx: AuditContext,
  input: AuditInput,
): Promise<ShownPage<AuditEntry>> {
  const { database, namespaceSlug } = input;
  requireCursor(input.cursor, database === null ? "aud" : "evt");
  if (database !== null) return await readDatabaseAudit(ctx, { ...input, database });
  const namespace = await readableNamespace(ctx, namespaceSlug);
  return await listAudit(ctx, namespace.id, input);
}

/** What was done to the service as a whole. Errors: `operator_required`, `validation_failed` for a cursor that is none. */
export async function readServiceAudit(
  ctx: ManageContext,
  input: AuditPageInput,
): Promise<ShownPage<AuditEntry>> {
  requireOperator(ctx.caller);
  requireCursor(input.cursor, "aud");
  return await listAudit(ctx, SERVICE_AUDIT, input);
}

async function listAudit(
  ctx: ManageContext,
  namespaceId: string,
  input: AuditPageInput,
): Promise<ShownPage<AuditEntry>> {
  const { records, nextCursor } = await ctx.control.audit.list(namespaceId, input);
  const items = records.map(({ namespaceId: _, at, ...record }) => ({ ...record, at: isoTime(at) }));
  return { items, nextCursor };
}

/** Columns in the order of `AuditTuple`. */
const SELECT =
  "SELECT id, ts, token_id, user_id, operation, tables, rows_written, query_log_id FROM _service_meta_audit";

type AuditTuple = [
  id: string,
  ts: number,
  tokenId: string,
  userId: string | null,
  operation: string,
  tables: string,
  rowsWritten: number,
  queryLogId: string,
];

async function readDatabaseAudit(
  ctx: AuditContext,
  input: AuditInput & { readonly database: string },
): Promise<ShownPage<AuditEntry>> {
  const { namespaceSlug, database: slug, sinceMs, untilMs, cursor, pageSize } = input;
  const record = await readableDatabase(ctx, { namespaceSlug, slug });
  const target = trunkTarget(record, namespaceSlug, "read");
  const bounds = [["id < ?", cursor], ["ts >= ?", sinceMs], ["ts < ?", untilMs]] as const;
  const used = bounds.flatMap(([condition, value]) => value === null ? [] : [{ condition, value }]);
  const where = used.length === 0 ? "" : ` WHERE ${used.map(({ condition }) => condition).join(" AND ")}`;
  const reader = { ...ctx.query, target, tokenId: callerId(ctx.caller) };
  const rows = await readOwnRows<AuditTuple>(reader, {
    sql: `${SELECT}${where} ORDER BY id DESC LIMIT ?`,
    params: [...used.map(({ value }) => value), pageSize + 1],
  });
  const shown = rows.slice(0, pageSize);
  const names = new Map<string, string | null>();
  await Promise.all(
    new Set(shown.map(([, , actor]) => actor)).values().map(async (actor) =>
      names.set(actor, await notedName(ctx, target.namespaceId, actor))
    ),
  );
  const items = shown.map((row) => entryOf(slug, row, names));
  return { items, nextCursor: rows.length > pageSize ? items.at(-1)?.id ?? null : null };
}

function entryOf(database: string, row: AuditTuple, names: ReadonlyMap<string, string | null>): AuditEntry {
  const [id, ts, actor, userId, operation, tables, rowsWritten, queryLogId] = row;
  return {
    id,
    at: isoTime(ts),
    actor,
    actorName: names.get(actor) ?? null,
    action: operation,
    database,
    target: writtenTables(tables).join(", "),
    facts: { rowsWritten, queryLogId, ...(userId === null ? {} : { userId }) },
  };
}
