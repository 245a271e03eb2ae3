// Results of the SQL page: a grid for each statement, what a write has done, and what went wrong where.
import type { JsonValue } from "../../../../lib/engine/statement_effect.ts";
import type { QueryMeta } from "../../../../lib/query/query_call.ts";
import type { RanText, ShownResult } from "../../../../lib/services/editor/run_text.ts";
import type { TextFailure, TextStatement } from "../../../../lib/services/editor/text_context.ts";
import type { ResultTable } from "../../../../lib/services/query/read_result.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { counted, usd, whole } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { A_TURN, inTurns } from "../../parts/in_turns.ts";
import { Notice } from "../../parts/notice.tsx";
import { SqlText } from "../../parts/sql_text.tsx";
import { isNumeric, shownValue } from "../../parts/value.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { againFields, type OneStatement } from "./sql_again.ts";
import type { SqlForm } from "./sql_form.ts";

/** What came of a text that reads. */
export interface ResultsProps {
  readonly visit: Visit;
  readonly base: string;
  readonly form: SqlForm;
  readonly ran: RanText;
}

/** Every statement's result is kept, each made in a turn of its own; the failure stands behind the last of them. */
export async function Results(props: ResultsProps): Promise<Awaited<Html>> {
  const { ran: { results, failure }, form } = props;
  const shown = await inTurns(
    results,
    A_TURN,
    (result, index) => <Result {...props} result={result} index={index} />,
  );
  return (
    <>
      <Warnings meta={props.ran.meta} />
      {shown}
      {failure === null ? null : <Failure failure={failure} statements={[]} text={form.text} />}
    </>
  );
}

function Result(
  { visit, base, form, ran, result, index }: ResultsProps & { result: ShownResult; index: number },
): Html {
  const { rows, more, first, rowsRead } = result;
  const last = first + rows.length;
  const count = ran.results.length;
  const again = { visit, form };
  const one = { ...again, only: { statement: index, sql: result.sql } };
  return (
    <Card
      id={`result-${index}`}
      title={count === 1 ? "Result" : `Result ${index + 1}`}
      kind="result"
      full
      end={
        <span class="end">
          <Again {...one} action={`${base}/sql/download`} more={{ format: "csv" }} icon="download">
            CSV
          </Again>
          <Again {...one} action={`${base}/sql/download`} more={{ format: "json" }}>JSON</Again>
        </span>
      }
      foot={
        <>
          <span>
            <b>
              {rows.length === 0
                ? (first === 0 ? "No rows" : "No further rows")
                : `Rows ${whole(first + 1)} to ${whole(last)}${more ? "" : ` of ${whole(last)}`}`}
            </b>
          </span>
          <span>{counted(rowsRead, "row")} read</span>
          {ran.meta === null || count > 1 ? null : <Figures meta={ran.meta} />}
          {more && index === 0
            ? (
              <Again {...again} only={null} action={`${base}/sql`} more={{ do: `from-${last}` }}>
                Next rows
              </Again>
            )
            : null}
        </>
      }
    >
      <StatementHead sql={result.sql} index={index} count={count} />
      <ResultGrid columns={result.columns} rows={rows} first={first} label={`Rows of result ${index + 1}`} />
    </Card>
  );
}

interface AgainProps {
  readonly visit: Visit;
  readonly form: SqlForm;
  /** Null: the whole text. */
  readonly only: OneStatement | null;
  readonly action: string;
  readonly more: Readonly<Record<string, string>>;
  readonly icon?: "download";
  readonly children?: string;
}

/** The text that has run, once more: what is in the editor may be another one by now. */
function Again({ visit, form, only, action, more, icon, children }: AgainProps): Html {
  const hidden = { ...againFields(form, only), ...more };
  return (
    <Form visit={visit} action={action} hidden={hidden}>
      <Button small {...(icon ? { icon } : {})}>{children ?? ""}</Button>
    </Form>
  );
}

/** What the statements do that hardly anybody means. */
function Warnings({ meta }: { meta: QueryMeta | null }): Html {
  return <>{(meta?.warnings ?? []).map((warning) => <Notice tone="warn">{warning}.</Notice>)}</>;
}

function Figures({ meta }: { meta: QueryMeta }): Html {
  return (
    <>
      <span>{`${meta.durationMs} ms`}</span>
      <span>{usd(meta.costUsd)}</span>
      <code>{meta.queryLogId}</code>
    </>
  );
}

interface GridProps {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
  readonly first: number;
  readonly label: string;
}

/** Rows with their numbers, made in turns. */
async function ResultGrid({ columns, rows, first, label }: GridProps): Promise<Awaited<Html>> {
  const numeric = columns.map((_, at) => isNumeric(rows.slice(0, 50).map((row) => row[at] ?? null)));
  const look = (at: number) => numeric[at] ? "n" : undefined;
  const body = await inTurns(rows, columns.length, (row, index) => (
    <tr>
      <td class="row">{whole(first + index + 1)}</td>
      {columns.map((_, at) => (
        <td class={look(at)}>
          {shownValue({ value: row[at] ?? null })}
        </td>
      ))}
    </tr>
  ));
  if (columns.length === 0) return <p class="note body">It answers no rows.</p>;
  return (
    <div class="scroll tall" tabindex={0} role="region" aria-label={label}>
      <table class="grid">
        <thead>
          <tr>
            <th scope="col" class="row">
              <span aria-hidden="true">#</span>
              <span class="unseen">Row</span>
            </th>
            {columns.map((name, at) => <th scope="col" class={look(at)}>{visibleText(name)}</th>)}
          </tr>
        </thead>
        <tbody>{body}</tbody>
      </table>
    </div>
  );
}

/** What a write has done. */
export function Written(
  { base, tables, meta }: { base: string; tables: readonly ResultTable[]; meta: QueryMeta },
): Html {
  const answered = tables.filter(({ columns }) => columns.length > 0);
  return (
    <>
      <Notice tone="good">
        {`Done: ${counted(meta.rowsWritten, "row")} written, ${counted(meta.rowsRead, "row")} read, `}
        {`${meta.durationMs} ms, ${usd(meta.costUsd)}. `}
        {meta.snapshot === null ? null : (
          <>
            Before it the snapshot <code>{meta.snapshot}</code> was taken:{" "}
            <a href={`${base}/snapshots`}>go back to it</a>.
          </>
        )}
      </Notice>
      <Warnings meta={meta} />
      {answered.map(({ columns, rows }, index) => (
        <Card id={`written-${index}`} title="Rows that it answers" kind="result" full>
          <ResultGrid columns={columns} rows={rows} first={0} label="Rows that it answers" />
        </Card>
      ))}
    </>
  );
}

/** A statement of the text, shown above what came of it where there are several. */
export function StatementHead(
  { sql, index, count }: { sql: string; index: number; count: number },
): Html | null {
  if (count === 1) return null;
  return (
    <details class="statement">
      <summary>
        {`Statement ${index + 1} `}
        <code>{beginningOf(sql)}</code>
      </summary>
      <SqlText sql={sql} label={`Statement ${index + 1}`} />
    </details>
  );
}

/** Characters of a statement that its head shows. */
const BEGINNING = 60;

function beginningOf(sql: string): string {
  const line = sql.replace(/\s+/g, " ");
  return visibleText(line.slice(0, BEGINNING)) + (line.length > BEGINNING ? "…" : "");
}

/** Characters around the place that is shown. */
const AROUND = 300;

/** What went wrong, what to do, and where in the text. */
export function Failure(
  { failure: { error, index, span }, statements, text }: {
    failure: TextFailure;
    statements: readonly TextStatement[];
    text: string;
  },
): Html {
  const which = index !== null && (statements.length > 1 || index > 0) ? `Statement ${index + 1}: ` : "";
  const issues = error.facts.issues ?? [];
  const from = span === null ? 0 : Math.max(0, span.from - AROUND);
  const shown = span === null ? null : text.slice(from, span.to + AROUND);
  return (
    <Notice tone="bad">
      <p>
        <b>{which + visibleText(error.message)}</b>
      </p>
      {error.facts.detail ? <p>{visibleText(error.facts.detail.hint)}</p> : null}
      {issues.map(({ path, message }) => <p>{`${path}: ${visibleText(message)}`}</p>)}
      {shown === null || span === null
        ? null
        : <SqlText sql={shown} label="Where it is" failed={{ from: span.from - from, to: span.to - from }} />}
    </Notice>
  );
}
