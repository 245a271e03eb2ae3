// One row as a form: a field for each column, with the type of its value. Who may not write reads it.
import { roleAtLeast } from "../../../../lib/core/role.ts";
import type { ColumnFacts } from "../../../../lib/services/schema/schema_facts.ts";
import type { RowAddress } from "../../../../lib/services/tables/read_row.ts";
import type { RowCell } from "../../../../lib/services/tables/row_cells.ts";
import { keyText } from "../../../../lib/services/tables/table_key.ts";
import { valueTypes } from "../../../../lib/sql/words/typed_value.ts";
import type { Problem } from "../../frame/attempt.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { ChangedValue } from "../../parts/changed_value.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { tablePath } from "../../parts/table_path.ts";
import { Value } from "../../parts/value.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import {
  cellMark,
  cellNames,
  type FieldState,
  isEditable,
  stateOfCell,
  stateOfNew,
  typeOfColumn,
} from "./row_form.ts";
import { tableSearch } from "./table_query.ts";
import type { TablePageProps } from "./table_view.tsx";

/** A row that exists. */
export interface OpenRow {
  readonly address: RowAddress;
  readonly cells: readonly RowCell[];
}

/** The form; `row` null: of a new row. `sent` holds what was typed, where the form comes back. */
export interface RowFormProps extends TablePageProps {
  readonly row: OpenRow | null;
  readonly sent: ((at: number) => FieldState | null) | null;
  readonly problem: Problem | null;
}

/** The card. */
export function RowForm(props: RowFormProps): Html {
  const { table, base, row, role, query, visit, problem } = props;
  const path = tablePath(base, table.name);
  const back = path + tableSearch(query);
  const writes = roleAtLeast(role, "write");
  const hidden: Record<string, string> = row === null ? {} : { row: keyText(row.address.values) };
  return (
    <>
      <p class="note">
        <a href={back}>{`All rows of ${visibleText(table.name)}`}</a>
      </p>
      <Card
        id="row"
        title={row === null ? `New row of ${visibleText(table.name)}` : rowName(row.address)}
        about={writes ? "A change is shown before it is made" : "You may read it"}
      >
        <Form visit={visit} action={`${path}/row${tableSearch(query)}`} hidden={hidden} kind="form">
          {problem?.message ? <Notice tone="bad">{visibleText(problem.message)}</Notice> : null}
          {table.columns.map((column, at) => (
            <CellField
              {...props}
              column={column}
              at={at}
              writes={writes}
            />
          ))}
          {writes
            ? (
              <div class="end">
                <Button kind="primary" name="do" value={row === null ? "insert" : "update"}>
                  {row === null ? "Show the new row" : "Show the change"}
                </Button>
                {row === null
                  ? null
                  : <Button kind="deny" icon="trash" name="do" value="delete">Delete the row…</Button>}
                <a href={back}>Cancel</a>
              </div>
            )
            : null}
        </Form>
      </Card>
    </>
  );
}

/** "orders, id = 3". */
export function rowName({ table, key, values }: RowAddress): string {
  const parts = key.columns.map((name, at) => {
    const value = values[at] ?? null;
    const text = value === null
      ? "NULL"
      : typeof value === "object"
      ? "$integer" in value ? value.$integer : "a blob"
      : String(value);
    return `${visibleText(name)} = ${visibleText(text.slice(0, 60))}`;
  });
  return `${visibleText(table.name)}, ${parts.join(", ")}`;
}

interface CellFieldProps extends RowFormProps {
  readonly column: ColumnFacts;
  readonly at: number;
  readonly writes: boolean;
}

function CellField({ row, sent, problem, column, at, writes, visit }: CellFieldProps): Html {
  const cell = row === null ? null : row.cells[at] ?? null;
  const names = cellNames(at);
  const about = [column.type, column.pk > 0 ? "key" : "", column.notNull ? "not NULL" : ""]
    .filter((one) => one !== "").map(visibleText).join(", ");
  const description = column.description === "" ? null : <small>{visibleText(column.description)}</small>;
  if (!writes || !isEditable(column, cell)) {
    return (
      <div class="field cell">
        <span class="label">
          {visibleText(column.name)} <small>{about}</small>
        </span>
        <div class="read mono">
          {cell === null
            ? <span class="null">made by the table</span>
            : cell.cut
            ? <Value {...cell} />
            : <ChangedValue value={cell.value} />}
        </div>
        {cell?.cut
          ? (
            <small>
              {`${counted(cell.length ?? 0, cell.type === "blob" ? "byte" : "character")}: ${
                writes ? "change" : "read"
              } it by a statement`}
            </small>
          )
          : null}
        {description}
      </div>
    );
  }
  const state = sent?.(at) ?? (cell === null ? stateOfNew(column) : stateOfCell(cell));
  const wrong = problem?.fields[names.value];
  const long = state.text.length > 80 || state.text.includes("\n");
  return (
    <div class="field cell">
      <label for={names.value}>
        {visibleText(column.name)} <small>{about}</small>
      </label>
      {cell === null ? null : <input type="hidden" name={names.was} value={cellMark(cell)} />}
      <div class="typed">
        <textarea
          id={names.value}
          name={names.value}
          rows={long ? 6 : 1}
          spellcheck={false}
          autocomplete="off"
          autofocus={wrong !== undefined ||
            new URL(visit.here, "http://x").searchParams.get("col") === column.name}
          aria-invalid={wrong === undefined ? undefined : "true"}
          aria-describedby={wrong === undefined ? undefined : `${names.value}-wrong`}
        >
          {/* The first end of a line inside of the tag is not part of the text. */}
          {`\n${state.text}`}
        </textarea>
        <select
          name={names.type}
          data-own={typeOfColumn(column.type)}
          aria-label={`Type of ${visibleText(column.name)}`}
        >
          {row === null ? <option value="omit" selected={state.type === "omit"}>left out</option> : null}
          {valueTypes.map((type) => (
            <option value={type} selected={state.type === type}>
              {type === "null" ? "NULL" : type === "blob" ? "blob (hex)" : type}
            </option>
          ))}
        </select>
      </div>
      {wrong === undefined ? null : <small class="wrong" id={`${names.value}-wrong`}>{wrong}</small>}
      {description}
    </div>
  );
}
