// /console/:ns/db/:db/tables: the tables; …/tables/:t: the rows of one, by key, filtered and sorted by its address, and one
// row with its form. A change of a row is shown first, names its exact key, and is of exactly one row.
import { type Context, Hono } from "hono";
import { requireRole } from "../../../../lib/access/caller.ts";
import type { Role } from "../../../../lib/core/role.ts";
import { AppError } from "../../../../lib/core/errors.ts";
import { outcomeOf } from "../../../../lib/core/outcome_of.ts";
import { listTables } from "../../../../lib/services/schema/list_tables.ts";
import { readSchema } from "../../../../lib/services/schema/read_schema.ts";
import type { TableFacts } from "../../../../lib/services/schema/schema_facts.ts";
import { browseTable } from "../../../../lib/services/tables/browse_table.ts";
import { readRow, type RowAddress } from "../../../../lib/services/tables/read_row.ts";
import { readKeyText, tableKey } from "../../../../lib/services/tables/table_key.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { renderPage } from "../../frame/page.tsx";
import type { Html } from "../../parts/html.ts";
import { COUNTED_ROWS } from "../../parts/schema_list.tsx";
import { tableOfPath } from "../../parts/table_path.ts";
import { visibleText } from "../../parts/visible_text.ts";
import { databasePage } from "../../frame/database_pages.ts";
import { answerRow } from "./row_answer.tsx";
import { RowForm } from "./row_view.tsx";
import { readTableQuery } from "./table_query.ts";
import { type OpenTable, TablePage, TableWork } from "./table_view.tsx";
import { TablesList } from "./tables_view.tsx";

/** Mounted under `/console`. */
export function tablesRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get("/:ns/db/:db/tables", async (c) => {
      const database = await databasePage(deps, c);
      const [schema, counts] = await Promise.all([
        readSchema(database.ctx),
        listTables(database.ctx, COUNTED_ROWS),
      ]);
      return await renderPage(
        c,
        {
          title: `Tables · ${database.path}`,
          namespace: database.namespace,
          database: { path: database.path, tab: "Tables" },
        },
        <TablesList schema={schema} counts={counts} base={database.base} role={database.target.role} />,
      );
    })
    .get("/:ns/db/:db/tables/:t", async (c) => {
      const page = await openTable(deps, c);
      const { row, isNew } = opened(c);
      if (isNew) return await send(c, page, <RowForm {...page} row={null} sent={null} problem={null} />);
      if (row !== null) return await rowPage(c, page, row);
      return await rowsPage(c, page);
    })
    .post("/:ns/db/:db/tables/:t/row", async (c) => {
      const page = await openTable(deps, c, "write");
      const { body, status, location } = await answerRow(c, page, (text) => addressOf(page.table, text));
      return location === null ? await send(c, page, body, status) : c.redirect(location, 303);
    });
}

/** Errors: those of `databasePage`; `role_too_low`; `not_found` for a table that does not exist. */
async function openTable(deps: AppDeps, c: Context<Env>, needed: Role = "read"): Promise<OpenTable> {
  const database = await databasePage(deps, c);
  requireRole(database.target, needed);
  const name = tableOfPath(c.req.param("t") ?? "");
  const [schema, counts] = await Promise.all([
    readSchema(database.ctx),
    listTables(database.ctx, COUNTED_ROWS),
  ]);
  const table = schema.tables.find((one) => one.name === name);
  if (table === undefined) throw new AppError("not_found", { message: "There is no such table here" });
  const key = tableKey(table);
  const search = new URL(c.req.url).searchParams;
  return {
    database,
    schema,
    counts,
    table,
    rowKey: key,
    role: database.target.role,
    visit: c.get("visit"),
    base: database.base,
    query: readTableQuery(search, table, key),
    done: search.get("done"),
  };
}

function opened(c: Context<Env>): { readonly row: string | null; readonly isNew: boolean } {
  const search = new URL(c.req.url).searchParams;
  return { row: search.get("row"), isNew: search.has("new") };
}

function addressOf(table: TableFacts, text: string): RowAddress {
  const key = tableKey(table);
  const values = key === null ? null : readKeyText(text, key.columns.length);
  if (key === null || values === null) {
    throw new AppError("not_found", { message: "There is no row with this key" });
  }
  return { table, key, values };
}

async function rowPage(c: Context<Env>, page: OpenTable, text: string): Promise<Response> {
  const address = addressOf(page.table, text);
  const cells = await readRow(page.database.ctx, address);
  if (cells === null) throw new AppError("not_found", { message: "There is no row with this key any more" });
  return await send(c, page, <RowForm {...page} row={{ address, cells }} sent={null} problem={null} />);
}

async function rowsPage(c: Context<Env>, page: OpenTable): Promise<Response> {
  const { table, query, database } = page;
  if (table.error !== null) {
    return await send(c, page, <TablePage {...page} found={null} problem={table.error} />);
  }
  const found = await outcomeOf(() =>
    browseTable(database.ctx, { ...query, table, signal: () => c.req.raw.signal })
  );
  return await send(
    c,
    page,
    <TablePage
      {...page}
      found={found.ok ? found.value : null}
      problem={found.ok ? null : found.error.message}
    />,
  );
}

async function send(
  c: Context<Env>,
  page: OpenTable,
  body: Html | null,
  status: 200 | 409 | 422 = 200,
): Promise<Response> {
  const { table, database: { namespace, path } } = page;
  return await renderPage(
    c,
    {
      title: `${visibleText(table.name)} · ${path}`,
      namespace,
      database: { path, tab: "Tables", full: true },
      scripts: ["find.ts", "cells.ts"],
      status,
    },
    <TableWork {...page}>{body}</TableWork>,
  );
}
