// POST /v1/db/:ns/:db/validate: what a statement is and touches, without running it.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import type { QueryContext } from "../../lib/query/query_call.ts";
import { validateStatement } from "../../lib/services/schema/validate_statement.ts";
import { answers } from "../http/answers.ts";
import type { Env } from "../http/env.ts";
import { validate } from "../middleware/validate.ts";
import { role } from "../http/schemas.ts";
import { statementBody } from "./sql_schemas.ts";
import { statementsContext } from "../http/service_contexts.ts";

const validation = z.object({
  ok: z.boolean(),
  class: z.enum(["read", "write", "schema", "refused"]).nullable(),
  tables: z.array(z.string()),
  columns: z.array(z.string()).describe("table.column"),
  role: role.nullable().describe("Least role that may run it"),
  errorDetail: z.object({
    kind: z.string(),
    table: z.string().nullable(),
    column: z.string().nullable(),
    hint: z.string(),
    columns: z.array(z.string()).optional(),
  }).optional(),
});

/** Mounted under `/v1/db/:ns/:db`. */
export function validateRoutes(query: QueryContext): Hono<Env> {
  return new Hono<Env>().post(
    "/validate",
    describeRoute({
      summary: "Check one SQL statement without running it",
      tags: ["sql"],
      responses: answers(validation),
    }),
    validate("json", statementBody),
    async (c) => {
      const data = await validateStatement(statementsContext(query, c), c.req.valid("json"));
      return c.json({ success: true, data });
    },
  );
}
