// Columns that come as what they mean: the engine has numbers for booleans and text for JSON.
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import { jsonWithReals } from "../../../sql/words/row_form.ts";
import { jsonOf } from "../../../core/json_of.ts";

/** The declared types of an endpoint's columns, by the names in its answer. */
export type OutputTypes = NonNullable<EndpointSpec["outputTypes"]>;

/** Writes a value of an answer as JSON text. */
type Writer = (value: unknown) => string;

const writers: Readonly<Record<OutputTypes[string], Writer>> = {
  boolean: (value) => {
    const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
    return typeof number === "number" ? String(number !== 0) : plain(value);
  },
  // The text itself goes into the answer, so that no number in it loses digits.
  json: (value) => typeof value === "string" && jsonOf(value) !== undefined ? value : plain(value),
};

/** A value that does not fit its type comes as it is. */
export function writerOf(types: OutputTypes | undefined, column: string): Writer {
  const type = types !== undefined && Object.hasOwn(types, column) ? types[column] : undefined;
  return type === undefined ? plain : writers[type];
}

function plain(value: unknown): string {
  return jsonWithReals(value ?? null);
}
