// Inputs of the auth kinds by name.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";

/** Place in `input`, -1 where there is none. */
export function placeOf(spec: EndpointSpec, name: "email" | "password"): number {
  return spec.input.findIndex((field) => field.name === name);
}

/** Empty where it is absent: the validator of specifications makes both required. */
export function textAt(
  spec: EndpointSpec,
  bound: readonly SqlParameter[],
  name: "email" | "password",
): string {
  const value = bound[placeOf(spec, name)];
  return typeof value === "string" ? value : "";
}
