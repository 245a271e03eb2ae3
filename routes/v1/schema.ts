// The schema of a database: GET and PUT /describe, GET /search for tables and columns by words, and GET /doctor for
// what is wrong or unclear.
import { Hono } from "hono";
import { z } from "zod";
import { plainText } from "../../lib/core/text_checks.ts";
import type { QueryContext } from "../../lib/query/query_call.ts";
import { endpointFacts } from "../../lib/services/endpoints/endpoint_facts.ts";
import { describeSchema, updateDescriptions } from "../../lib/services/schema/describe_schema.ts";
import { examineSchema } from "../../lib/services/schema/doctor/examine_schema.ts";
import { searchSchema } from "../../lib/services/schema/search_schema.ts";
import { describing, sendData } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, noQuery } from "../http/schemas.ts";
import { statementsContext } from "../http/service_contexts.ts";
import { listOf } from "../middleware/list_of.ts";
import { validate } from "../middleware/validate.ts";

const described = describing(["schema"]);

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
      default: z.string().optional().describe("SQL; absent where it has none"),
      generated: z.literal(true).optional().describe("Present where its value is computed"),
    })),
    foreignKeys: z.array(z.object({ from: z.string(), toTable: z.string(), toColumn: z.string() })),
    indexes: z.array(z.object({
      name: z.string(),
      columns: z.array(z.string().nullable()).describe("In order; null is an expression"),
      unique: z.boolean(),
      partial: z.boolean(),
    })).optional().describe(
      "Also those of UNIQUE constraints; absent where it has none beside its primary key",
    ),
    checks: z.array(z.string()).optional().describe(
      "Conditions of its CHECK constraints, as SQL; absent also where definitions are too long to be read",
    ),
    error: z.string().optional().describe("Why the table cannot be read"),
  })),
});

/** Refuses text that the engine would cut or change. */
const text = z.string().max(10_000).check(plainText);
const name = z.string().min(1).max(1000);

/** Tables of one call, and columns of a table, of which SQLite lets no table have more than 2000. */
const MAX_DESCRIBED = 10_000;

const descriptions = z.strictObject({
  databaseDescription: text.optional(),
  tables: listOf(
    z.strictObject({
      table: name,
      description: text.optional(),
      columns: listOf(z.strictObject({ column: name, description: text.optional() }), MAX_DESCRIBED)
        .optional(),
    }),
    MAX_DESCRIBED,
  ).optional(),
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
      described("Describe the schema", schemaDescription),
      validate("query", noQuery),
      async (c) => sendData(c, await describeSchema(statementsContext(query, c))),
    )
    .put(
      "/describe",
      described("Store descriptions of the database, its tables and columns", schemaDescription),
      validate("json", descriptions),
      async (c) => {
        const data = await updateDescriptions(statementsContext(query, c), c.req.valid("json"));
        return sendData(c, data);
      },
    );
}

const searchQuery = z.strictObject({
  q: z.string().min(1).max(500).meta({
    description:
      "A question or words, in plain language; the first 16 words that tell something are looked for",
    examples: ["total of an order"],
  }),
  limit: z.coerce.number().int().min(1).max(50).default(10),
});

const searchResult = z.object({
  query: z.string(),
  hint: z.string().optional().describe("What to try; present where nothing is found"),
  hits: z.array(z.object({
    kind: z.enum(["database", "table", "column"]),
    table: z.string(),
    column: z.string().nullable(),
    description: z.string(),
    score: z.number(),
    error: z.string().optional().describe("Why the table cannot be read"),
  })),
});

/** Mounted under `/v1/db/:ns/:db`. */
export function searchRoutes({ query, schemas: { rankings } }: AppDeps): Hono<Env> {
  return new Hono<Env>().get(
    "/search",
    described("Find tables and columns by words", searchResult),
    validate("query", searchQuery),
    async (c) => {
      const data = await searchSchema({ ...statementsContext(query, c), rankings }, c.req.valid("query"));
      return sendData(c, data);
    },
  );
}

/** What the doctor finds. */
export const doctorFinding = z.object({
  code: z.string(),
  severity: z.enum(["error", "warning", "info"]),
  table: z.string(),
  column: z.string().nullable(),
  message: z.string(),
  suggestion: z.string().describe("One SQL statement, or a call as METHOD path body"),
});

const doctorResult = z.object({
  findings: z.array(doctorFinding),
  tablesScanned: z.int(),
  generatedAt: isoTimestamp,
});

/** Mounted under `/v1/db/:ns/:db`. */
export function doctorRoutes({ control, query, schemas: { probes: memory } }: AppDeps): Hono<Env> {
  return new Hono<Env>().get(
    "/doctor",
    described("Examine the schema", doctorResult),
    validate("query", noQuery),
    async (c) => {
      const target = c.get("target");
      const data = await examineSchema(statementsContext(query, c), {
        address: { namespaceSlug: target.namespaceSlug, databasePath: c.req.param("db") ?? "" },
        endpoints: () => endpointFacts({ control, query, target }),
        memory,
      });
      return sendData(c, data);
    },
  );
}
