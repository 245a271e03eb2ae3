// GET /v1/db/:ns/:db/tables, /query_log and /latency.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import type { QueryContext } from "../../lib/query/query_call.ts";
import { listTables } from "../../lib/services/schema/list_tables.ts";
import { readLatency } from "../../lib/services/query/read_latency.ts";
import { readQueryLog } from "../../lib/services/query/read_query_log.ts";
import type { Env } from "../http/env.ts";
import { validate } from "../middleware/validate.ts";
import { answers, describing, sendData } from "../http/answers.ts";
import { noQuery, time } from "../http/schemas.ts";
import { statementsContext } from "../http/service_contexts.ts";

const described = describing(["log"]);

const logQuery = z.strictObject({
  since: time("2026-11-01T00:00:00Z").optional().describe("ISO 8601; entries from then on"),
  until: time("2026-12-01T00:00:00Z").optional().describe("ISO 8601; entries before then"),
  tokenId: z.string().max(64).optional(),
  status: z.enum(["ok", "error"]).optional().meta({ examples: ["ok"] }),
  cursor: z.string().max(64).optional(),
  pageSize: z.coerce.number().int().min(1).max(500).default(50),
});

const latencyQuery = z.strictObject({
  since: time("2026-11-01T00:00:00Z").optional().describe("Unset: a day ago, by day 30 days ago"),
  until: time("2026-12-01T00:00:00Z").optional(),
  by: z.enum(["hour", "day"]).default("hour").describe("In UTC"),
});
const latency = z.object({ calls: z.int(), p50Ms: z.number().nullable(), p95Ms: z.number().nullable() });

const logEntry = z.object({
  id: z.string(),
  ts: z.string(),
  namespaceId: z.string(),
  dbId: z.string(),
  tokenId: z.string(),
  userId: z.string().nullable(),
  operation: z.string(),
  status: z.enum(["ok", "error"]),
  errorKind: z.string().nullable(),
  rowsRead: z.int(),
  rowsWritten: z.int(),
  durationMs: z.number(),
  statementCount: z.int(),
  sql: z.string(),
});

const tableSummary = z.object({
  name: z.string(),
  rowCount: z.int().nullable().describe("Null where the rows cannot be counted; error says why"),
  error: z.string().optional(),
});

/** Mounted under `/v1/db/:ns/:db`. */
export function tableRoutes(query: QueryContext): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/tables",
      describeRoute({
        summary: "List the tables with their row counts",
        tags: ["schema"],
        responses: answers(z.array(tableSummary)),
      }),
      validate("query", noQuery),
      async (c) => sendData(c, await listTables(statementsContext(query, c))),
    )
    .get(
      "/query_log",
      described(
        "Read the query log, newest first",
        z.object({ entries: z.array(logEntry), nextCursor: z.string().nullable() }),
      ),
      validate("query", logQuery),
      async (c) => {
        const { since, until, tokenId, status, cursor, pageSize } = c.req.valid("query");
        const page = await readQueryLog(statementsContext(query, c), {
          sinceMs: since ?? null,
          untilMs: until ?? null,
          tokenId: tokenId ?? null,
          status: status ?? null,
          cursor: cursor ?? null,
          pageSize,
        });
        return sendData(c, page);
      },
    )
    .get(
      "/latency",
      described(
        "Read how long calls took, from the query log",
        latency.extend({ over: z.array(latency.extend({ from: z.string() })) }),
      ),
      validate("query", latencyQuery),
      async (c) => {
        const { since, until, by } = c.req.valid("query");
        const input = { sinceMs: since ?? null, untilMs: until ?? null, by };
        return sendData(c, await readLatency(statementsContext(query, c), input));
      },
    );
}
