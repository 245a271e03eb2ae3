// What a caller has sent for an input, found by its name.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";

/** Index of a field in `input`, -1 where there is none. */
export function inputIndex(spec: EndpointSpec, name: string): number {
  return spec.input.findIndex((field) => field.name === name);
}

/** The text that was sent for an input; empty where there is none. */
export function textIn(spec: EndpointSpec, bound: readonly SqlParameter[], name: string): string {
  const value = bound[inputIndex(spec, name)];
  return typeof value === "string" ? value : "";
}
