// /console/:ns/db/:db/sql: ask and write. Reads run at once, a page of rows each; a write is shown first and runs when a
// person says so. Without script it is a form with a text area.
import { type Context, Hono } from "hono";
import { listTables } from "../../../../lib/services/schema/list_tables.ts";
import { readSchema } from "../../../../lib/services/schema/read_schema.ts";
import { prepareText } from "../../../../lib/services/editor/prepare_text.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { renderPage, sendHtml } from "../../frame/page.tsx";
import { FormFields, readForm } from "../../frame/read_form.ts";
import { COUNTED_ROWS } from "../../parts/schema_list.tsx";
import { checkText } from "../../../../lib/services/editor/check_text.ts";
import { readHistory } from "../../../../lib/services/editor/read_history.ts";
import { type DatabasePage, databasePage } from "../../frame/database_pages.ts";
import { downloadResult } from "./sql_download.ts";
import { EditorHead } from "./sql_editor_head.tsx";
import { Checked, SqlPage } from "./sql_page_view.tsx";
import { readSqlForm, type SqlForm } from "./sql_form.ts";
import { answerSql, type SqlAnswer } from "./sql_outcome.ts";
import { Outcome } from "./sql_outcome_view.tsx";

/** Characters of a text that fit into an address. */
const MOST_IN_ADDRESS = 6000;

/** Mounted under `/console`. */
export function sqlRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get("/:ns/db/:db/sql", async (c) => {
      const database = await databasePage(deps, c);
      const form = readSqlForm(new FormFields(new URLSearchParams({ sql: c.req.query("sql") ?? "" })));
      const answer: SqlAnswer = {
        prepared: await prepareText(database.ctx, form),
        outcome: { kind: "nothing" },
      };
      return await page(c, database, { form, answer });
    })
    .post("/:ns/db/:db/sql", async (c) => {
      const database = await databasePage(deps, c);
      const form = readSqlForm(await readForm(c));
      if (form.action.kind === "publish" && form.text.length <= MOST_IN_ADDRESS) {
        return leadTo(c, `${database.base}/endpoints/-/new?${new URLSearchParams({ sql: form.text })}`);
      }
      const answer = await answerSql(database.ctx, form, () => c.req.raw.signal);
      if (c.req.header("hx-request") === undefined) return await page(c, database, { form, answer });
      return await sendHtml(
        c,
        <Outcome visit={c.get("visit")} base={database.base} form={form} answer={answer} />,
      );
    })
    .post("/:ns/db/:db/sql/check", async (c) => {
      const database = await databasePage(deps, c);
      const form = readSqlForm(await readForm(c));
      const prepared = await prepareText(database.ctx, form);
      // A session that ends while somebody types: behind the sign-in the text is here again, and nothing has run.
      if (c.req.header("hx-request") === undefined) {
        return await page(c, database, { form, answer: { prepared, outcome: { kind: "nothing" } } });
      }
      const check = await checkText(database.ctx, prepared.statements);
      return c.html(await <Checked base={database.base} form={form} prepared={prepared} check={check} />);
    })
    .post("/:ns/db/:db/sql/download", async (c) => {
      const database = await databasePage(deps, c);
      const fields = await readForm(c);
      const form = readSqlForm(fields);
      return await downloadResult(c, database, { form, format: fields.text("format") });
    });
}

/** To another page. Where the script has sent the form, it would put what a redirect leads to into this one. */
function leadTo(c: Context<Env>, to: string): Response {
  if (c.req.header("hx-request") === undefined) return c.redirect(to, 303);
  return c.body(null, 200, { "hx-redirect": to });
}

async function page(
  c: Context<Env>,
  database: DatabasePage,
  { form, answer }: { readonly form: SqlForm; readonly answer: SqlAnswer },
): Promise<Response> {
  const { ctx, namespace, path, base } = database;
  const visit = c.get("visit");
  const wantsHistory = c.req.query("history") !== undefined;
  const { prepared: { statements }, outcome } = answer;
  // What has just been written is not about to run again: that a table is there already would be its own doing.
  const isToRun = statements.length > 0 && outcome.kind !== "written";
  const [schema, counts, check, history] = await Promise.all([
    readSchema(ctx),
    listTables(ctx, COUNTED_ROWS),
    isToRun ? checkText(ctx, statements) : null,
    wantsHistory ? readHistory(ctx) : null,
  ]);
  return await renderPage(
    c,
    {
      title: `SQL · ${path}`,
      namespace,
      database: { path, tab: "SQL", full: true },
      swaps: true,
      scripts: ["find.ts", "editor.ts"],
      head: <EditorHead visit={visit} />,
      status: isRefused(answer) ? 422 : 200,
    },
    <SqlPage {...{ visit, base, form, answer, schema, counts, check, history }} role={ctx.target.role} />,
  );
}

function isRefused({ outcome }: SqlAnswer): boolean {
  return outcome.kind === "failed" || outcome.kind === "incomplete" ||
    (outcome.kind === "ran" && outcome.ran.failure !== null);
}
