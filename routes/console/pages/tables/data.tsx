// /console/:ns/db/:db/data: the database as a file to take along, and the migrations that it has had.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { listMigrations } from "../../../../lib/services/migrations/migration_state.ts";
import { callerNames } from "../../../../lib/services/people/caller_names.ts";
import { readSchema } from "../../../../lib/services/schema/read_schema.ts";
import type { ExportRequest } from "../../../../lib/services/transfer/export_database.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { exportFormats, sendExport } from "../../../http/send_export.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { personCaller } from "../../frame/session.ts";
import { type DatabasePage, databasePage } from "../../frame/database_pages.ts";
import { Data } from "./data_view.tsx";

const exportForm = z.object({
  format: z.enum(exportFormats),
  table: z.string().max(1000).nullable(),
  safe: z.boolean(),
}).refine(({ format, table }) => table !== null || format === "sqlite" || format === "sql", {
  path: ["table"],
  message: "Choose a table; CSV and NDJSON hold one",
});

/** Mounted under `/console`. */
export function dataRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, at: DatabasePage, returned: Returned<"export"> | null) => {
    const [schema, migrations] = await Promise.all([readSchema(at.ctx), listMigrations(at.ctx)]);
    const callers = migrations.data.map(({ tokenId }) => tokenId);
    return await renderPage(
      c,
      {
        title: `Data of ${at.path}`,
        namespace: at.namespace,
        database: { path: at.path, tab: "Data" },
        returned,
      },
      <Data
        visit={c.get("visit")}
        at={{ namespace: at.namespace, path: at.path, base: `${at.base}/data`, baseUrl: deps.baseUrl }}
        tables={schema.tables.map(({ name }) => name)}
        migrations={migrations.data}
        drift={migrations.drift}
        names={await callerNames(manageContext(deps, c), at.namespace, callers)}
        returned={returned}
      />,
    );
  };
  return new Hono<Env>()
    .get("/:ns/db/:db/data", async (c) => await page(c, await databasePage(deps, c), null))
    .post("/:ns/db/:db/data/export", async (c) => {
      const at = await databasePage(deps, c);
      const fields = await readForm(c);
      const { tenants, clock, query: { meter }, exports } = deps;
      const ctx = { tenants, clock, meter, exports, target: at.target, caller: personCaller(c) };
      const sent = await attempt(() => sendExport(c, ctx, requestOf(fields)));
      return sent.ok ? sent.value : await page(c, at, { form: "export", fields, problem: sent.problem });
    });
}

/** Errors: `validation_failed`. */
function requestOf(fields: FormFields): ExportRequest {
  const table = fields.exact("table");
  const asked = checked(exportForm, {
    format: fields.text("format"),
    table: table === "" ? null : table,
    safe: fields.has("safe"),
  }, { format: "Choose what the file is" });
  return { ...asked, safe: asked.safe && asked.format === "csv", id: null, range: null };
}
