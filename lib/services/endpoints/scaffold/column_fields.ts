// The inputs of scaffolded endpoints, made from columns.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import type { ColumnDefinition } from "../../schema/read_table.ts";
import { inputType } from "./crud_spec.ts";
import { inputNames } from "./scaffold_names.ts";

/** `required`: `none`, or those that neither have a default nor may be NULL. */
export function fieldsOf(
  columns: readonly ColumnDefinition[],
  taken: ReadonlySet<string>,
  required: "none" | "needed" = "needed",
): FieldSpec[] {
  const names = inputNames(columns.map(({ name }) => name), taken);
  return columns.map(({ declaredType, notNull, keyPosition, defaultSql }, at) => {
    const isNeeded = required === "needed" && (notNull || keyPosition > 0) && defaultSql === null;
    const field = { name: names[at] ?? "", type: inputType(declaredType) };
    return isNeeded ? { ...field, required: true } : field;
  });
}
