// An export as the answer to a request: of a program at /v1, or of a person at the console.
import type { Context } from "hono";
import {
  type ExportContext,
  exportDatabase,
  type ExportRequest,
} from "../../lib/services/transfer/export_database.ts";
import { wholeAnswer } from "./answers.ts";
import type { Env } from "./env.ts";

/** What an export may be. */
export const exportFormats = ["sqlite", "sql", "csv", "ndjson"] as const;

const mediaTypes = {
  sqlite: "application/vnd.sqlite3",
  sql: "application/sql; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson",
} as const;
/** `content` of a described file: all types that it may have. */
export const exportContent: Readonly<Record<string, object>> = Object.fromEntries(
  Object.values(mediaTypes).map((type) => [type.split(";", 1)[0], {}]),
);
/** Of a part, which only a kept file has. */
export const partContent = { [mediaTypes.sqlite]: {} } as const;
/** Text may be some times as long as the file that it is made of. */
const TEXT_FACTOR = 4;

/**
 * The file as it is made. The head says what it is; a text's length is not known before its end. Errors: those of
 * `exportDatabase`.
 */
export async function sendExport(
  c: Context<Env>,
  ctx: ExportContext,
  request: ExportRequest,
): Promise<Response> {
  const { databaseId, databaseSlug } = ctx.target;
  const { sizeBytes: storedBytes } = await ctx.tenants.storageOf(databaseId);
  const { id, body, file } = await exportDatabase(ctx, request);
  const headers: Record<string, string> = {
    "content-type": mediaTypes[request.format],
    "content-disposition": `attachment; filename="${
      fileName(databaseSlug, request.table)
    }.${request.format}"`,
    "cache-control": "no-store",
    "x-export-id": id,
  };
  c.env?.expectLargeAnswer?.(file?.sizeBytes ?? storedBytes * TEXT_FACTOR);
  if (file === null) return wholeAnswer(c, body, { status: 200, headers });
  const { from, to, sizeBytes } = file;
  headers["etag"] = `"${id}"`;
  headers["accept-ranges"] = "bytes";
  headers["content-length"] = String(to - from + 1);
  const partial = from > 0 || to < sizeBytes - 1;
  if (partial) headers["content-range"] = `bytes ${from}-${to}/${sizeBytes}`;
  return wholeAnswer(c, body, { status: partial ? 206 : 200, headers });
}

/** Only characters that every file system and header takes. */
function fileName(databaseSlug: string, table: string | null): string {
  const of = table === null ? databaseSlug : `${databaseSlug}-${table}`;
  return of.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 100);
}
