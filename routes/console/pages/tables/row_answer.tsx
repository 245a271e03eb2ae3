// What a form of a row asks for: to show a change, or to make the one that was shown.
import type { Context } from "hono";
import { outcomeOf } from "../../../../lib/core/outcome_of.ts";
import { applyWrite } from "../../../../lib/services/proposals/apply_write.ts";
import { AppError } from "../../../../lib/core/errors.ts";
import { proposeRow, type RowChange } from "../../../../lib/services/tables/propose_row.ts";
import { readRow, type RowAddress } from "../../../../lib/services/tables/read_row.ts";
import { PLAIN_ROWS } from "../../../../lib/sql/words/row_form.ts";
import type { Env } from "../../../http/env.ts";
import { attempt, type Problem } from "../../frame/attempt.ts";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { tablePath } from "../../parts/table_path.ts";
import { visibleText } from "../../parts/visible_text.ts";
import { readEdit, readNew, sentState } from "./row_form.ts";
import { RowProposal } from "./row_proposal_view.tsx";
import { type OpenRow, RowForm } from "./row_view.tsx";
import { heldWrite } from "../sql/sql_outcome.ts";
import { Held } from "../sql/sql_held_view.tsx";
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
  const fields = await readForm(c);
  const asked = fields.exact("do");
  if (asked === "apply") return await apply(c, page, { fields, addressOf });
  if (asked === "edit") return await formAgain(page, { fields, addressOf }, null);
  if (asked === "insert") {
    return await propose(page, fields, null, () => ({
      kind: "insert",
      table: page.table,
      set: readNew(fields, page.table),
    }));
  }
  const row = await openRow(page, { fields, addressOf });
  return await propose(
    page,
    fields,
    row,
    () =>
      asked === "delete"
        ? { kind: "delete", row: row.address }
        : { kind: "update", row: row.address, ...readEdit(fields, page.table, row.cells) },
  );
}

interface SentRow {
  readonly fields: FormFields;
  readonly addressOf: (text: string) => RowAddress;
}

async function openRow({ database }: OpenTable, { fields, addressOf }: SentRow): Promise<OpenRow> {
  const address = addressOf(fields.exact("row"));
  const cells = await readRow(database.ctx, address);
  if (cells === null) throw new AppError("not_found", { message: "There is no row with this key any more" });
  return { address, cells };
}

/** The form with what was typed, beside the row as it is by now. */
async function formAgain(page: OpenTable, sent: SentRow, problem: Problem | null): Promise<RowAnswer> {
  const row = sent.fields.has("row") ? await openRow(page, sent) : null;
  const body = <RowForm {...page} row={row} sent={(at) => sentState(sent.fields, at)} problem={problem} />;
  return { body, status: problem === null ? 200 : 409, location: null };
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

async function apply(c: Context<Env>, page: OpenTable, sent: SentRow): Promise<RowAnswer> {
  const { ctx, base } = page.database;
  const { fields } = sent;
  const change = fields.exact("change");
  const outcome = await outcomeOf(() =>
    applyWrite(ctx, {
      executionToken: fields.exact("execution"),
      rowForm: PLAIN_ROWS,
      snapshots: true,
      replay: null,
      signal: () => c.req.raw.signal,
    })
  );
  const written = outcome.ok && outcome.value.meta.rowsWritten > 0;
  if (written || (outcome.ok && change === "delete")) {
    const done = written ? doneOf[change] ?? "updated" : "nothing";
    const location = tablePath(base, page.table.name) + tableSearch(page.query, { done });
    return { body: null, status: 200, location };
  }
  const held = outcome.ok ? null : heldWrite(outcome.error);
  if (held) {
    const body = <Held visit={page.visit} base={base} text={fields.exact("statement")} {...held} />;
    return { body, status: 200, location: null };
  }
  const message = outcome.ok
    ? "Nothing was changed: the row is not as it was shown any more. What you typed is kept"
    : [outcome.error.message, outcome.error.facts.detail?.hint].filter(Boolean).join(". ");
  const problem = { code: "effect_changed", message, fields: {}, issues: [], status: 409 } as const;
  const again = change === "delete" ? null : await outcomeOf(() => formAgain(page, sent, problem));
  return again?.ok
    ? again.value
    : { body: <Refused {...page} message={message} />, status: 409, location: null };
}

/** Where there is no form to go back to. */
function Refused({ database, table, query, message }: OpenTable & { readonly message: string }): Html {
  return (
    <Notice tone="bad">
      {visibleText(message)}.{" "}
      <a href={tablePath(database.base, table.name) + tableSearch(query)}>Back to the rows</a>
    </Notice>
  );
}
