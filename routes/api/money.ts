// /api/namespaces/:slug/balance, /credits and /usage.
import { Hono } from "hono";
import { z } from "zod";
import { MAX_USAGE_ROWS } from "../../lib/core/limits.ts";
import { addCredit, readBalance, readUsage } from "../../lib/services/money/manage_money.ts";
import { describing, sendData, sendPage } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { displayName, isoTimestamp, noQuery, page, pageMeta, slug, time, usd } from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";
import { validate } from "../middleware/validate.ts";

const amount = z.number();
const balance = z.object({
  balanceUsd: amount,
  reservedUsd: amount,
  writtenOffUsd: amount,
  usedUsd: amount,
  creditedUsd: amount,
  monthlyCapUsd: amount.nullable(),
  monthUsedUsd: amount,
  currency: z.literal("USD"),
});
const credit = z.object({
  reference: z.string(),
  amountUsd: amount,
  createdAt: isoTimestamp,
  repeated: z.boolean(),
});
const creditBody = z.strictObject({
  amountUsd: usd(0.000001),
  reference: displayName.describe("The same reference counts once"),
}).meta({ examples: [{ amountUsd: 10, reference: "invoice-17" }] });
const usageQuery = z.strictObject({
  from: time("2026-11-01T00:00:00Z").optional(),
  to: time("2026-11-08T00:00:00Z").optional(),
  by: z.enum(["hour", "day"]).default("day"),
  database: slug.optional().describe("Only the usage of this one"),
  cursor: page.shape.cursor,
  pageSize: z.coerce.number().int().min(1).max(MAX_USAGE_ROWS).optional().describe(
    `Without it all rows are one page, or refused where they are more than ${MAX_USAGE_ROWS}`,
  ),
});
const usageRow = z.object({
  from: isoTimestamp,
  databaseId: z.string(),
  requests: z.int(),
  rowsRead: z.int(),
  rowsWritten: z.int(),
  costUsd: amount,
});
const described = describing(["money"]);

/** Mounted under `/api/namespaces`. */
export function moneyRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/:slug/balance",
      described("Read the prepaid balance", balance),
      validate("query", noQuery),
      async (c) => sendData(c, await readBalance(manageContext(deps, c), c.req.param("slug"))),
    )
    .post(
      "/:slug/credits",
      described("Add credit", credit, { status: 201 }),
      validate("json", creditBody),
      async (c) => {
        const input = { namespaceSlug: c.req.param("slug"), ...c.req.valid("json") };
        return sendData(c, await addCredit(manageContext(deps, c), input), 201);
      },
    )
    .get(
      "/:slug/usage",
      described("Read usage by database", z.array(usageRow), { meta: pageMeta }),
      validate("query", usageQuery),
      async (c) => {
        const { from = null, to = null, by, database = null, cursor = null, pageSize = null } = c.req.valid(
          "query",
        );
        const input = {
          namespaceSlug: c.req.param("slug"),
          fromMs: from,
          toMs: to,
          by,
          database,
          cursor,
          pageSize,
        };
        return sendPage(c, await readUsage(manageContext(deps, c), input));
      },
    );
}
