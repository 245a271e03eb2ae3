// GET /v1/db/:ns/:db/export and POST /v1/db/:ns/:db/import, and what tells of those that are kept or under way.
import { type Context, Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { requireRole } from "../../lib/access/caller.ts";
import type { ExportContext } from "../../lib/services/transfer/export_database.ts";
import { cancelExport, requireTransfers } from "../../lib/services/transfer/export_database.ts";
import { appendRows } from "../../lib/services/transfer/append_rows.ts";
import { type ImportContext, importFile } from "../../lib/services/transfer/import_file.ts";
import { answers } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, noQuery } from "../http/schemas.ts";
import { exportContent, exportFormats, partContent, sendExport } from "../http/send_export.ts";
import { target, targetNow } from "../middleware/access.ts";
import { refuseHeaders } from "../middleware/header_flag.ts";
import { plan } from "../middleware/plan.ts";
import { planOfFiles } from "../middleware/plan_of_files.ts";
import { refuseHead } from "../middleware/not_found.ts";
import { noBody, validate } from "../middleware/validate.ts";
import { AppError } from "../../lib/core/errors.ts";

const format = z.enum(exportFormats);
const exportQuery = z.strictObject({
  format,
  table: z.string().min(1).max(1000).optional().describe("One table; csv and ndjson need it"),
  safe: z.literal("1").optional().describe("With csv: no cell is a formula for a spreadsheet"),
  id: z.string().max(100).optional().describe("Of an export that is kept: the same bytes again"),
}).refine(
  ({ format, table, id }) =>
    id !== undefined || table !== undefined || format === "sql" || format === "sqlite",
  {
    path: ["table"],
    message: "Name the table; csv and ndjson hold one",
  },
);
const exportState = z.object({
  id: z.string(),
  format,
  table: z.string().nullable(),
  safe: z.boolean(),
  state: z.enum(["copying", "writing", "ready", "failed"]),
  tables: z.int(),
  rows: z.int(),
  sentBytes: z.int(),
  sizeBytes: z.int().nullable().describe("Of a finished SQLite file"),
  notKept: z.array(z.string()),
  createdAt: isoTimestamp,
  expiresAt: isoTimestamp,
});
const importQuery = z.strictObject({
  format,
  mode: z.enum(["create", "replace", "append"]),
  table: z.string().min(1).max(1000).optional().describe("With append: the table that gets the rows"),
  foreign_keys: z.literal("off").optional().describe("Takes rows that refer to rows that are not there"),
  id: z.string().min(1).max(200).optional().describe(
    "By which the import is asked for and cancelled; with append: sent again, what is there already is left out",
  ),
  atomic: z.literal("1").optional().describe("With append: only if one transaction takes the whole file"),
}).superRefine((query, refinement) => {
  const refuse = (path: string, message: string) =>
    refinement.addIssue({ code: "custom", path: [path], message });
  const isRows = query.format === "csv" || query.format === "ndjson";
  if (isRows !== (query.mode === "append")) {
    refuse("mode", "Use create or replace with sqlite and sql, and append with csv and ndjson");
  }
  if (isRows !== (query.table !== undefined)) {
    refuse("table", "Name the table with csv and ndjson, and no other time");
  }
  if (isRows && query.foreign_keys !== undefined) refuse("foreign_keys", "Leave it out with csv and ndjson");
  if (!isRows && query.atomic !== undefined) {
    refuse("atomic", "Leave it out with sqlite and sql, which always are");
  }
});
/** What an import answers. */
export const imported = z.object({
  tables: z.int(),
  rows: z.int(),
  notKept: z.array(z.string()).describe("What the file has and a database here cannot have"),
  snapshot: z.string().nullable().describe(
    "Label of the state before; null with append, unless an approval asked for one",
  ),
});
const importState = z.object({
  id: z.string(),
  format: z.enum(["sqlite", "sql"]),
  mode: z.enum(["create", "replace"]),
  state: z.enum(["receiving", "waiting", "building", "placing", "done", "failed"]),
  receivedBytes: z.int(),
  tables: z.int().describe("Built so far"),
  rows: z.int(),
  code: z.string().nullable().describe("Of what it has failed for"),
  startedAt: isoTimestamp,
});
const tags = ["export and import"];

/** Mounted under `/v1/db/:ns/:db`, in front of plans: a plan would hold a whole file in memory. */
export function transferRoutes(deps: AppDeps): Hono<Env> {
  const { clock, query: { replays, bounds } } = deps;
  const files = planOfFiles({ replays, clock, maxBytes: bounds.bytes });
  return new Hono<Env>()
    .on("GET", "/export", target(deps), files)
    // An import that was to be only looked at must not run.
    .on("POST", "/import", target(deps), refuseHeaders({ plans: true }), files)
    .on(
      ["GET", "DELETE"],
      ["/exports/:id", "/imports/:id"],
      target(deps),
      refuseHeaders({ plans: true }),
      plan(replays),
    )
    .get(
      "/export",
      describeRoute({
        summary: "Export the database or a table as a stream",
        tags,
        responses: {
          ...answers(z.object({})),
          200: { description: "The file", content: exportContent },
          206: { description: "A part of a kept SQLite file", content: partContent },
        },
      }),
      validate("query", exportQuery),
      async (c) => {
        refuseHead(c);
        const { format, table = null, safe, id = null } = c.req.valid("query");
        const range = id === null ? null : readRange(c, id);
        const ctx = exportContext(deps, c);
        return await sendExport(c, ctx, { format, table, safe: safe === "1", id, range });
      },
    )
    .get(
      "/exports/:id",
      describeRoute({ summary: "Tell how far an export is", tags, responses: answers(exportState) }),
      validate("query", noQuery),
      async (c) => {
        const ctx = exportContext(deps, c);
        const data = await requireTransfers(ctx).exports.view(c.req.param("id"), ctx.target.databaseId);
        return c.json({ success: true, data });
      },
    )
    .delete(
      "/exports/:id",
      describeRoute({
        summary: "Cancel an export, or remove what is kept of it",
        tags,
        responses: answers(z.object({ id: z.string() })),
      }),
      validate("query", noQuery),
      noBody,
      async (c) => {
        const id = c.req.param("id");
        await cancelExport(exportContext(deps, c), id);
        return c.json({ success: true, data: { id } });
      },
    )
    .get(
      "/imports/:id",
      describeRoute({ summary: "Tell how far an import is", tags, responses: answers(importState) }),
      validate("query", noQuery),
      async (c) => {
        const { imports, databaseId } = importsOf(deps, c);
        return c.json({ success: true, data: await imports.view(databaseId, c.req.param("id")) });
      },
    )
    .delete(
      "/imports/:id",
      describeRoute({
        summary: "Cancel an import that is not being put in place yet",
        tags,
        responses: answers(z.object({ id: z.string(), cancelled: z.boolean() })),
      }),
      validate("query", noQuery),
      noBody,
      (c) => {
        const { imports, databaseId } = importsOf(deps, c);
        const id = c.req.param("id");
        return c.json({ success: true, data: { id, cancelled: imports.find(databaseId, id).cancel() } });
      },
    )
    .post(
      "/import",
      describeRoute({
        summary: "Import a file as the database, or rows into a table",
        tags,
        requestBody: { content: { "application/octet-stream": {} }, required: true },
        responses: answers(imported),
      }),
      validate("query", importQuery),
      async (c) => {
        const { format, mode, table = "", foreign_keys, id, atomic } = c.req.valid("query");
        refuseWrapped(c);
        const ctx = importContext(deps, c);
        const data = mode === "append"
          ? await appendRows({ ...ctx, tokenId: c.get("token").tokenId }, {
            format: format === "csv" ? "csv" : "ndjson",
            table,
            // Where the service dies before the step's answer is kept, the rows still come in once.
            id: id ?? c.get("fileStep")?.scope.key ?? null,
            atomic: atomic === "1",
            body: c.get("upload") ?? c.req.raw.body,
          })
          : await importFile(ctx, {
            format: format === "sqlite" ? "sqlite" : "sql",
            mode,
            id: id ?? null,
            looseReferences: foreign_keys === "off",
            step: c.get("fileStep"),
            body: c.get("upload") ?? c.req.raw.body,
          });
        return c.json({ success: true, data });
      },
    );
}

/** Errors: `role_too_low`, `transfers_unavailable`. */
function importsOf(deps: AppDeps, c: Context<Env>) {
  const ctx = exportContext(deps, c);
  requireRole(ctx.target, "admin");
  return { imports: requireTransfers(ctx).imports, databaseId: ctx.target.databaseId };
}

function importContext(deps: AppDeps, c: Context<Env>): ImportContext {
  return { ...deps.query, ...exportContext(deps, c), again: () => targetNow(deps, c) };
}

/** A compressed file could be of any size, and a form holds more than the file. Errors: `validation_failed`. */
function refuseWrapped(c: Context<Env>): void {
  const isForm = /^multipart\//i.test(c.req.header("content-type") ?? "");
  if (!isForm && (c.req.header("content-encoding") ?? "identity") === "identity") return;
  const issue = isForm
    ? { path: "Content-Type", message: "Send the file itself as the body, not in a form" }
    : { path: "Content-Encoding", message: "Send the file as it is, not compressed" };
  throw new AppError("validation_failed", { issues: [issue] });
}

function exportContext(deps: AppDeps, c: Context<Env>): ExportContext {
  const { tenants, clock, query: { meter }, exports } = deps;
  return { tenants, clock, meter, exports, target: c.get("target"), caller: c.get("token") };
}

/** One range of a kept file; another entity tag asks for all of it. Several ranges at once are answered with all of it. */
function readRange(c: Context<Env>, id: string): { from: number; to: number | null } | null {
  const [, from = "", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(c.req.header("range") ?? "") ?? [];
  const wanted = c.req.header("if-range");
  if (from === "" || (wanted !== undefined && wanted !== `"${id}"`)) return null;
  return { from: Number(from), to: to === "" ? null : Number(to) };
}
