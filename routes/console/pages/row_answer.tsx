// What a form of a row asks for: to show a change, or to make the one that was shown.
import type { Context } from "hono";
import { outcomeOf } from "../../../lib/core/outcome_of.ts";
import { applyWrite } from "../../../lib/services/proposals/apply_write.ts";
import { AppError } from "../../../lib/core/errors.ts";
import { proposeRow, type RowChange } from "../../../lib/services/tables/propose_row.ts";
import { readRow, type RowAddress } from "../../../lib/services/tables/read_row.ts";
import { PLAIN_ROWS } from "../../../lib/sql/row_form.ts";
import type { Env } from "../../http/env.ts";
import { attempt, type Problem } from "../frame/attempt.ts";
import { type FormFields, readForm } from "../frame/read_form.ts";
import type { Html } from "../parts/html.ts";
import { Notice } from "../parts/notice.tsx";
import { tablePath } from "../parts/table_path.ts";
import { visibleText } from "../parts/visible_text.ts";
import { readEdit, readNew, sentState } from "./row_form.ts";
import { RowProposal } from "./row_proposal_view.tsx";
import { type OpenRow, RowForm } from "./row_view.tsx";
import { heldWrite } from "./sql_outcome.ts";
import { Held } from "./sql_held_view.tsx";
import { tableSearch } from "./table_query.ts";
import type { OpenTable } from "./table_view.tsx";

/** What is answered: a page, or where to go on. */
export interface RowAnswer {
  readonly body: Html | null;
  readonly status: 200 | 409 | 422;
  readonly location: string | null;
}

/** Errors: `not_found` for a row that is gone, and those that no change of the form can mend. */
export async function answerRow(
  c: Context<Env>,
  page: OpenTable,
  addressOf: (text: string) => RowAddress,
): Promise<RowAnswer> {
  const { ctx } = page.database;
  const fields = await readForm(c);
  const asked = fields.exact("do");
  if (asked === "apply") return await apply(c, page, fields);
  if (asked === "insert") {
    return await propose(page, fields, null, () => ({
      kind: "insert",
      table: page.table,
      set: readNew(fields, page.table),
    }));
  }
  const address = addressOf(fields.exact("row"));
  const cells = await readRow(ctx, address);
  if (cells === null) throw new AppError("not_found", { message: "There is no row with this key any more" });
  return await propose(
    page,
    fields,
    { address, cells },
    () =>
      asked === "delete"
        ? { kind: "delete", row: address }
        : { kind: "update", row: address, ...readEdit(fields, page.table, cells) },
  );
}

async function propose(
  page: OpenTable,
  fields: FormFields,
  row: OpenRow | null,
  changeOf: () => RowChange,
): Promise<RowAnswer> {
  const proposed = await attempt(async () => {
    const change = changeOf();
    return { change, shown: await proposeRow(page.database.ctx, change) };
  });
  if (!proposed.ok) {
    const problem = headed(proposed.problem);
    const body = <RowForm {...page} row={row} sent={(at) => sentState(fields, at)} problem={problem} />;
    return { body, status: 422, location: null };
  }
  const { change, shown } = proposed.value;
  const typed = Object.fromEntries(
    [...fields.fields].filter(([name]) => !["csrf", "do"].includes(name)),
  );
  return {
    body: <RowProposal {...page} change={change} proposed={shown} typed={typed} />,
    status: 200,
    location: null,
  };
}

/** What is about no field stands at the head of the form. */
function headed(problem: Problem): Problem {
  const whole = problem.fields[""];
  return whole === undefined ? problem : { ...problem, message: whole };
}

const doneOf: Readonly<Record<string, string>> = { insert: "inserted", update: "updated", delete: "deleted" };

async function apply(c: Context<Env>, page: OpenTable, fields: FormFields): Promise<RowAnswer> {
  const { ctx, base } = page.database;
  const outcome = await outcomeOf(() =>
    applyWrite(ctx, {
      executionToken: fields.exact("execution"),
      rowForm: PLAIN_ROWS,
      snapshots: true,
      replay: null,
      signal: () => c.req.raw.signal,
    })
  );
  if (outcome.ok) {
    const done = outcome.value.meta.rowsWritten > 0 ? doneOf[fields.exact("change")] ?? "updated" : "nothing";
    const location = tablePath(base, page.table.name) + tableSearch(page.query, { done });
    return { body: null, status: 200, location };
  }
  const { error } = outcome;
  const held = heldWrite(error);
  return {
    body: held
      ? <Held visit={page.visit} base={base} text={fields.exact("statement")} {...held} />
      : (
        <Notice tone="bad">
          {visibleText(error.message)}. {visibleText(error.facts.detail?.hint ?? "")}{" "}
          <a href={tablePath(base, page.table.name) + tableSearch(page.query)}>Back to the rows</a>
        </Notice>
      ),
    status: held ? 200 : 409,
    location: null,
  };
}
