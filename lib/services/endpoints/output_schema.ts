// The bodies of published endpoints by `output` (specification, Output shapes), as JSON Schema.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";

type Json = Readonly<Record<string, unknown>>;

/** Any value of a row (contract 4). */
const value: Json = {
  anyOf: [
    { type: ["string", "number", "null"] },
    { type: "object", properties: { $blob: { type: "string" } }, required: ["$blob"] },
  ],
};
const columns: Json = { type: "array", items: { type: "string" } };
const rows: Json = { type: "array", items: { type: "array", items: value } };

export const outputSchema: Readonly<Record<EndpointSpec["output"], Json>> = {
  rows: object({ columns, rows }),
  first_row: object({
    row: { anyOf: [{ type: "object", additionalProperties: value }, { type: "null" }] },
  }),
  rows_written: object({ rowsWritten: { type: "integer", minimum: 0 } }),
  session: object({ token: { type: "string" }, expiresAt: { type: "string", format: "date-time" } }),
  answer: object({ sql: { type: "string" }, columns, rows, explanation: { type: "string" } }),
};

function object(properties: Json): Json {
  return { type: "object", properties, required: Object.keys(properties) };
}
