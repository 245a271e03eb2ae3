// The whole result of a read as a file: CSV or JSON, exact, with nothing cut.
import type { Context } from "hono";
import { invalidInput } from "../../../../lib/core/errors.ts";
import { csvStream } from "../../../../lib/services/editor/csv_text.ts";
import { prepareText } from "../../../../lib/services/editor/prepare_text.ts";
import { readStatement } from "../../../../lib/services/query/read_statement.ts";
import type { Env } from "../../../http/env.ts";
import { inPieces } from "../../frame/in_pieces.ts";
import type { DatabasePage } from "../../frame/database_pages.ts";
import type { SqlForm } from "./sql_form.ts";

/** What is to be downloaded. */
export interface DownloadInput {
  readonly form: SqlForm;
  readonly format: string;
}

/** Errors: `validation_failed` for anything but one statement that reads, and those of the pipeline. */
export async function downloadResult(
  c: Context<Env>,
  { ctx, path }: DatabasePage,
  { form, format }: DownloadInput,
): Promise<Response> {
  const { statements, placeholders, writes, problem } = await prepareText(ctx, form);
  const [statement] = statements;
  if (statement === undefined || statements.length > 1 || writes) {
    throw invalidInput("sql", "Download the result of one statement that reads");
  }
  if (problem !== null) throw invalidInput("sql", problem);
  const wrong = placeholders.find(({ problem }) => problem !== null);
  if (wrong) {
    throw invalidInput(`?${wrong.place + 1}`, wrong.problem ?? "");
  }
  const { json } = await readStatement(ctx, { ...statement, signal: () => c.req.raw.signal });
  const name = path.replaceAll(/[^a-z0-9.-]/g, "-");
  return format === "csv"
    ? c.body(csvStream(json), 200, {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.csv"`,
    })
    : c.body(inPieces(`${json}}`), 200, {
      "content-type": "application/json; charset=utf-8",
      "content-disposition": `attachment; filename="${name}.json"`,
    });
}
