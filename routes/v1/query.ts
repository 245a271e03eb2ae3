// POST /v1/db/:ns/:db/query and /batch: the hot path. What describes a route stands behind its handler, where no call
// passes through it.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import type { QueryContext } from "../../lib/query/query_call.ts";
import { previewWrites } from "../../lib/services/proposals/preview_writes.ts";
import { runStatements } from "../../lib/services/query/run_statements.ts";
import type { Env } from "../http/env.ts";
import { headerFlag, headerNumber, integersAsStrings } from "../middleware/header_flag.ts";
import { validate } from "../middleware/validate.ts";
import { answers } from "../http/answers.ts";
import { callOptions } from "./call_options.ts";
import { sendBatch, sendQuery } from "./send_result.ts";
import { batchBody, queryMeta, queryResult, statementBody, writePreview } from "./sql_schemas.ts";
import { statementsContext } from "./statements_context.ts";

export function queryRoutes(query: QueryContext): Hono<Env> {
  return new Hono<Env>()
    .post(
      "/query",
      validate("json", statementBody),
      async (c) => {
        const { sql, params } = c.req.valid("json");
        if (headerFlag(c, "X-Dry-Run", "1")) {
          const { data, meta } = await previewWrites(statementsContext(query, c), {
            ...{ statements: [{ sql, params }], atomic: true, batch: false },
            integersAsStrings: integersAsStrings(c),
            maxAffected: headerNumber(c, "X-Max-Affected", 0),
          });
          return c.json({ success: true, data: data[0], meta });
        }
        const answer = await runStatements(statementsContext(query, c), {
          operation: "query",
          statements: [{ sql, params }],
          atomic: true,
          ...await callOptions(c, "query"),
        });
        return sendQuery(c, answer);
      },
      describeRoute({
        summary: "Run one SQL statement",
        tags: ["sql"],
        responses: answers(z.union([queryResult, writePreview]), { meta: queryMeta }),
      }),
    )
    .post(
      "/batch",
      validate("json", batchBody),
      async (c) => {
        const { statements, transaction } = c.req.valid("json");
        if (headerFlag(c, "X-Dry-Run", "1")) {
          const { data, meta } = await previewWrites(statementsContext(query, c), {
            ...{ statements, atomic: transaction ?? false, batch: true },
            integersAsStrings: integersAsStrings(c),
            maxAffected: headerNumber(c, "X-Max-Affected", 0),
          });
          return c.json({ success: true, data, meta });
        }
        const answer = await runStatements(statementsContext(query, c), {
          operation: "batch",
          statements,
          atomic: transaction ?? false,
          ...await callOptions(c, "batch"),
        });
        return sendBatch(c, answer);
      },
      describeRoute({
        summary: "Run up to 100 SQL statements",
        tags: ["sql"],
        responses: answers(z.union([z.array(queryResult), z.array(writePreview)]), { meta: queryMeta }),
      }),
    );
}
