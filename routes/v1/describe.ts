// GET and PUT /v1/db/:ns/:db/describe: the schema and its descriptions.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { isPlainText } from "../../lib/core/plain_text.ts";
import type { QueryContext } from "../../lib/query/query_call.ts";
import { describeSchema, updateDescriptions } from "../../lib/services/schema/describe_schema.ts";
import { answers } from "../http/answers.ts";
import type { Env } from "../http/env.ts";
import { noQuery } from "../http/schemas.ts";
import { validate } from "../middleware/validate.ts";
import { statementsContext } from "../http/service_contexts.ts";

const schemaDescription = z.object({
  databaseDescription: z.string(),
  tables: z.array(z.object({
    table: z.string(),
    description: z.string(),
    columns: z.array(z.object({
      name: z.string(),
      type: z.string(),
      pk: z.boolean(),
      notNull: z.boolean(),
      description: z.string(),
    })),
    foreignKeys: z.array(z.object({ from: z.string(), toTable: z.string(), toColumn: z.string() })),
    error: z.string().optional().describe("Why the table cannot be read"),
  })),
});

/** Refuses text that the engine would cut or change. */
const text = z.string().max(10_000).refine(isPlainText, {
  error: "Remove U+0000 and lone surrogates",
});
const name = z.string().min(1).max(1000);

const descriptions = z.strictObject({
  databaseDescription: text.optional(),
  tables: z.array(z.strictObject({
    table: name,
    description: text.optional(),
    columns: z.array(z.strictObject({ column: name, description: text.optional() })).optional(),
  })).optional(),
}).meta({
  examples: [{
    databaseDescription: "Orders of the shop",
    tables: [{
      table: "orders",
      description: "One row an order",
      columns: [{ column: "total", description: "In euros" }],
    }],
  }],
});

/** Mounted under `/v1/db/:ns/:db`. */
export function describeRoutes(query: QueryContext): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/describe",
      describeRoute({
        summary: "Describe the schema",
        tags: ["schema"],
        responses: answers(schemaDescription),
      }),
      validate("query", noQuery),
      async (c) => c.json({ success: true, data: await describeSchema(statementsContext(query, c)) }),
    )
    .put(
      "/describe",
      describeRoute({
        summary: "Store descriptions of the database, its tables and columns",
        tags: ["schema"],
        responses: answers(schemaDescription),
      }),
      validate("json", descriptions),
      async (c) => {
        const data = await updateDescriptions(statementsContext(query, c), c.req.valid("json"));
        return c.json({ success: true, data });
      },
    );
}
