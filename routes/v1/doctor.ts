// GET /v1/db/:ns/:db/doctor: what is wrong or unclear in the schema.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { endpointFacts } from "../../lib/services/endpoints/endpoint_facts.ts";
import { ProbeMemory } from "../../lib/services/schema/doctor/row_probes.ts";
import { examineSchema } from "../../lib/services/schema/doctor/examine_schema.ts";
import { answers } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { validate } from "../middleware/validate.ts";
import { isoTimestamp, noQuery } from "../http/schemas.ts";
import { statementsContext } from "../http/service_contexts.ts";

const doctorResult = z.object({
  findings: z.array(z.object({
    code: z.string(),
    severity: z.enum(["error", "warning", "info"]),
    table: z.string(),
    column: z.string().nullable(),
    message: z.string(),
    suggestion: z.string().describe("One SQL statement, or a call as METHOD path body"),
  })),
  tablesScanned: z.int(),
  generatedAt: isoTimestamp,
});

/** Mounted under `/v1/db/:ns/:db`. */
export function doctorRoutes({ control, query }: AppDeps): Hono<Env> {
  const memory = new ProbeMemory();
  return new Hono<Env>().get(
    "/doctor",
    describeRoute({ summary: "Examine the schema", tags: ["schema"], responses: answers(doctorResult) }),
    validate("query", noQuery),
    async (c) => {
      const target = c.get("target");
      const data = await examineSchema(statementsContext(query, c), {
        address: { namespaceSlug: target.namespaceSlug, databasePath: c.req.param("db") ?? "" },
        endpoints: () => endpointFacts({ control, query, target }),
        memory,
      });
      return c.json({ success: true, data });
    },
  );
}
