// The inputs of scaffolded endpoints, made from columns.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import type { ColumnDefinition } from "../../schema/read_table.ts";
import { inputType } from "./crud_spec.ts";
import { inputNames } from "./scaffold_names.ts";

/** What is left out binds NULL, or for a new row the column's default. */
export function fieldsOf(
  columns: readonly ColumnDefinition[],
  taken: ReadonlySet<string>,
  usesDefaults = true,
): FieldSpec[] {
  const names = inputNames(columns.map(({ name }) => name), taken);
  return columns.map(({ declaredType, notNull, keyPosition, defaultSql }, at) => {
    const isNeeded = (notNull || keyPosition > 0) && !(usesDefaults && defaultSql !== null);
    const field = { name: names[at] ?? "", type: inputType(declaredType) };
    return isNeeded ? { ...field, required: true } : field;
  });
}
