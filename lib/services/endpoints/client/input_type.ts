// The TypeScript type of what a caller sends to an endpoint.
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import { isSafeRange } from "../is_safe_range.ts";
import { propertyDoc } from "./source_text.ts";

const types: Readonly<Record<FieldSpec["type"], string>> = {
  text: "string",
  email: "string",
  url: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  json: "unknown",
};

function typeOf(field: FieldSpec): string {
  return field.type === "integer" && !isSafeRange(field) ? "number | bigint" : types[field.type];
}

/** Members of an interface, one a line; empty where the caller sends nothing. */
export function inputMembers({ input }: Pick<EndpointSpec, "input">): string[] {
  return input.filter(({ name }) => !name.startsWith("$")).map((field) => {
    const type = field.enum?.map((value) => JSON.stringify(value)).join(" | ") ?? typeOf(field);
    const required = field.required === true;
    return `${propertyDoc(field.label)}  ${field.name}${required ? "" : "?"}: ${type}${
      required ? "" : " | null"
    };`;
  });
}
