// GET /v1/db/:ns/:db/search: finds tables and columns by words.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import type { QueryContext } from "../../lib/query/query_call.ts";
import { RankingCache, searchSchema } from "../../lib/services/schema/search_schema.ts";
import { answers } from "../http/answers.ts";
import type { Env } from "../http/env.ts";
import { validate } from "../middleware/validate.ts";
import { statementsContext } from "../http/service_contexts.ts";

const searchQuery = z.strictObject({
  q: z.string().min(1).max(500).meta({
    description: "A question or words, in plain language",
    examples: ["total of an order"],
  }),
  limit: z.coerce.number().int().min(1).max(50).default(10),
});

const searchResult = z.object({
  query: z.string(),
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
export function searchRoutes(query: QueryContext): Hono<Env> {
  const rankings = new RankingCache();
  return new Hono<Env>().get(
    "/search",
    describeRoute({
      summary: "Find tables and columns by words",
      tags: ["schema"],
      responses: answers(searchResult),
    }),
    validate("query", searchQuery),
    async (c) => {
      const data = await searchSchema({ ...statementsContext(query, c), rankings }, c.req.valid("query"));
      return c.json({ success: true, data });
    },
  );
}
