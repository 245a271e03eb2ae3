// The form of one row: from the cells of the table to fields, and from fields to a change.
import { AppError, invalidInput, type Issue } from "../../../../lib/core/errors.ts";
import { createHash } from "node:crypto";
import type { ColumnFacts, TableFacts } from "../../../../lib/services/schema/schema_facts.ts";
import type { ColumnValue } from "../../../../lib/services/tables/propose_row.ts";
import type { RowCell } from "../../../../lib/services/tables/row_cells.ts";
import { cellParameter } from "../../../../lib/services/tables/table_key.ts";
import { affinityOf, type SqlParameter } from "../../../../lib/sql/words/sql_value.ts";
import { isValueType, readTypedValue, type ValueType } from "../../../../lib/sql/words/typed_value.ts";
import type { FormFields } from "../../frame/read_form.ts";

/** What stands in the fields of a column. `omit`: a new row leaves the column out. */
export interface FieldState {
  readonly type: ValueType | "omit";
  readonly text: string;
}

/** Names of the fields of the column at a place. */
export function cellNames(at: number): { value: string; type: string; was: string } {
  return { value: `value-${at}`, type: `type-${at}`, was: `was-${at}` };
}

/** The fields of a value. */
export function stateOfCell({ value, type }: RowCell): FieldState {
  if (value === null) return { type: "null", text: "" };
  if (typeof value === "object") return { type: "blob", text: Uint8Array.fromBase64(value.$blob).toHex() };
  if (type === "integer") return { type: "integer", text: String(value) };
  if (type === "real") return { type: "number", text: String(value) };
  return { type: "text", text: String(value) };
}

/** The fields of a column of a new row. */
export function stateOfNew({ type, pk, notNull, default: ownDefault }: ColumnFacts): FieldState {
  const isRowNumber = pk > 0 && type.toUpperCase() === "INTEGER";
  if (isRowNumber || ownDefault !== null || !notNull) return { type: "omit", text: "" };
  return { type: typeOfColumn(type), text: "" };
}

/** The type that what is typed for a column most likely has. */
export function typeOfColumn(declared: string): ValueType {
  const types = {
    INTEGER: "integer",
    REAL: "number",
    NUMERIC: /date|time/i.test(declared) ? "text" : "number",
    TEXT: "text",
    BLOB: "text",
  } as const;
  return types[affinityOf(declared)];
}

/** Whether a form can hold the value: browsers keep no U+0000, and a value that is cut would be lost. */
export function isEditable(column: ColumnFacts, cell: RowCell | null): boolean {
  if (column.generated) return false;
  if (cell === null) return true;
  if (cell.cut || (cell.type === "real" && typeof cell.value === "string")) return false;
  return typeof cell.value !== "string" || !cell.value.includes("\u0000");
}

/** What a form says a cell was, without saying the value once more. */
export function cellMark({ value, type, length }: RowCell): string {
  return createHash("sha256").update(JSON.stringify([value, type, length])).digest("hex").slice(0, 16);
}

/** The fields as they were sent; null where the form has none for the column. */
export function sentState(fields: FormFields, at: number): FieldState | null {
  const names = cellNames(at);
  const type = fields.exact(names.type);
  if (type !== "omit" && !isValueType(type)) return null;
  return { type, text: fields.exact(names.value) };
}

/** What of a row changes. */
export interface RowEdit {
  readonly set: readonly ColumnValue[];
  readonly seen: readonly ColumnValue[];
}

/**
 * The columns that the form changes, and what they hold. Errors: `validation_failed` naming fields; `effect_changed`
 * where the row is not as the form showed it.
 */
export function readEdit(fields: FormFields, table: TableFacts, cells: readonly RowCell[]): RowEdit {
  const issues: Issue[] = [];
  const set: ColumnValue[] = [];
  const seen: ColumnValue[] = [];
  for (const [at, column] of table.columns.entries()) {
    const cell = cells[at];
    const sent = sentState(fields, at);
    if (cell === undefined || sent === null || !isEditable(column, cell)) continue;
    if (sameState(sent, stateOfCell(cell))) {
      // Whoever types into the field of a NULL means the value; whoever makes a value NULL may leave it there.
      if (sent.type === "null") requireNothingTyped(sent, at, issues);
      continue;
    }
    if (fields.exact(cellNames(at).was) !== cellMark(cell)) {
      throw new AppError("effect_changed", {
        message: "Open the row again; somebody else has changed it meanwhile",
      });
    }
    const value = readField(sent, at, issues);
    if (value === undefined) continue;
    set.push({ column: column.name, value });
    seen.push({ column: column.name, value: cellParameter(cell) });
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues });
  if (set.length === 0) {
    throw invalidInput("", "Change a value first");
  }
  return { set, seen };
}

/** The values of a new row. Errors: `validation_failed` naming fields. */
export function readNew(fields: FormFields, table: TableFacts): ColumnValue[] {
  const issues: Issue[] = [];
  const set = table.columns.flatMap((column, at): ColumnValue[] => {
    const sent = column.generated ? null : sentState(fields, at);
    const value = sent === null ? undefined : readField(sent, at, issues);
    return value === undefined ? [] : [{ column: column.name, value }];
  });
  if (issues.length > 0) throw new AppError("validation_failed", { issues });
  return set;
}

/** Undefined for a column that is left out, and for a value that is wrong. */
function readField(sent: FieldState, at: number, issues: Issue[]): SqlParameter | undefined {
  if (sent.type === "omit") {
    requireNothingTyped(sent, at, issues);
    return undefined;
  }
  const read = readTypedValue({ type: sent.type, text: sent.text });
  if (read.ok) return read.value;
  issues.push({ path: cellNames(at).value, message: read.message });
  return undefined;
}

/** What was typed would be lost without a word. */
function requireNothingTyped({ type, text }: FieldState, at: number, issues: Issue[]): void {
  if (text.trim() === "") return;
  const lost = type === "omit" ? "left out" : "NULL";
  issues.push({
    path: cellNames(at).value,
    message: `Choose its type, or empty the field; it is ${lost} as it stands`,
  });
}

function sameState(one: FieldState, other: FieldState): boolean {
  if (one.type !== other.type) return false;
  // A form cannot say which of the three ends of a line a value has: browsers make one of all, U+000D alone too.
  return one.type === "null" || one.text === other.text.replaceAll(/\r\n?/g, "\n");
}
