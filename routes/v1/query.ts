// POST /v1/db/:ns/:db/query, /batch and /validate. The first two are the hot path. What describes a route comes
// after its handler, so that no call passes through it.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { replayScope, requireReplayKey } from "../../lib/access/replay_scope.ts";
import type { ReplayScope } from "../../lib/control/replays.ts";
import type { CallReplay, QueryContext } from "../../lib/query/query_call.ts";
import { previewOnce } from "../../lib/services/proposals/preview_once.ts";
import { type PreviewInput, previewWrites } from "../../lib/services/proposals/preview_writes.ts";
import { jsonWithReals } from "../../lib/sql/words/row_form.ts";
import { runStatements, type StatementsInput } from "../../lib/services/query/run_statements.ts";
import { validateStatement } from "../../lib/services/schema/validate_statement.ts";
import { describing } from "../http/answers.ts";
import type { Env } from "../http/env.ts";
import { errorDetail, role, ruleHit } from "../http/schemas.ts";
import { statementsContext } from "../http/service_contexts.ts";
import { requestContent } from "../middleware/body_text.ts";
import { headerFlag, maxAffectedOf, rowFormOf, snapshots } from "../middleware/header_flag.ts";
import { describeInput, readInput, validate } from "../middleware/validate.ts";
import { sendBatch, sendQuery } from "./send_result.ts";
import { batchBody, queryMeta, queryResult, setsResult, statementBody, writePreview } from "./sql_schemas.ts";

const described = describing(["sql"]);

/** Mounted under `/v1/db/:ns/:db`. */
export function queryRoutes(query: QueryContext): Hono<Env> {
  return new Hono<Env>()
    .post(
      "/query",
      async (c) => {
        const { sql, params } = await readInput(c, "json", statementBody);
        if (headerFlag(c, "X-Dry-Run", "1")) {
          const input = { statements: [{ sql, params }], atomic: true, batch: false, ...previewOptions(c) };
          return await dryRun(query, c, "query", async () => {
            const { data, meta } = await previewWrites(statementsContext(query, c), input);
            return { data: data[0], meta };
          });
        }
        // Without a key they are there at once, and a point read waits for nothing. Field by field: to spread them would be a
        // noticeable part of it.
        const choosing = callOptions(c, "query");
        const chosen = choosing instanceof Promise ? await choosing : choosing;
        const answer = await runStatements(statementsContext(query, c), {
          operation: "query",
          statements: [{ sql, params }],
          paramSets: null,
          atomic: true,
          rowForm: chosen.rowForm,
          replay: chosen.replay,
          snapshots: chosen.snapshots,
          maxAffected: chosen.maxAffected,
          signal: chosen.signal,
        });
        return sendQuery(c, answer);
      },
      describeInput(statementBody),
      described("Run one SQL statement", z.union([queryResult, writePreview]), { meta: queryMeta }),
    )
    .post(
      "/batch",
      async (c) => {
        const body = await readInput(c, "json", batchBody);
        const { paramSets = null, transaction } = body;
        const statements = body.statements ?? [{ sql: body.sql ?? "", params: paramSets?.[0] ?? [] }];
        if (headerFlag(c, "X-Dry-Run", "1")) {
          const atomic = transaction ?? false;
          const input = { statements, paramSets, atomic, batch: true, ...previewOptions(c) };
          return await dryRun(query, c, "batch", async () => {
            const { data, meta } = await previewWrites(statementsContext(query, c), input);
            return { data: paramSets ? data[0] : data, meta };
          });
        }
        const answer = await runStatements(statementsContext(query, c), {
          operation: "batch",
          statements,
          paramSets,
          atomic: transaction ?? false,
          ...await callOptions(c, "batch"),
        });
        return paramSets ? sendQuery(c, answer) : sendBatch(c, answer);
      },
      describeInput(batchBody),
      described(
        "Run up to 100 SQL statements, or one with up to 10,000 parameter sets",
        z.union([z.array(queryResult), z.array(writePreview), setsResult, writePreview]),
        {
          meta: queryMeta,
        },
      ),
    );
}

type Options = Pick<StatementsInput, "rowForm" | "replay" | "maxAffected" | "snapshots" | "signal">;

/** The options in the headers of an SQL call. Errors: `validation_failed` naming the header. */
function callOptions(c: Context<Env>, operation: "query" | "batch"): Options | Promise<Options> {
  const key = c.req.header("idempotency-key");
  const plan = c.get("plan") ?? null;
  if (key === undefined) return options(c, plan && { idempotency: null, plan });
  return keyedOptions(c, operation, { key, plan });
}

function options(c: Context<Env>, replay: CallReplay | null): Options {
  return {
    maxAffected: maxAffectedOf(c),
    rowForm: rowFormOf(c),
    replay,
    snapshots: snapshots(c),
    signal: () => c.req.raw.signal,
  };
}

async function keyedOptions(
  c: Context<Env>,
  operation: string,
  { key, plan }: { readonly key: string; readonly plan: ReplayScope | null },
): Promise<Options> {
  return options(c, { idempotency: await keyScope(c, operation, key), plan });
}

/** Errors: `validation_failed` naming the header. */
async function keyScope(c: Context<Env>, operation: string, key: string): Promise<ReplayScope> {
  requireReplayKey("Idempotency-Key", key);
  const scope = ["idempotency", c.get("token").tokenId, c.get("target").databaseId, operation, key];
  return replayScope(scope, await requestContent(c));
}

/** Errors: `validation_failed` naming the header. */
function previewOptions(c: Context<Env>): Pick<PreviewInput, "rowForm" | "maxAffected"> {
  return { rowForm: rowFormOf(c), maxAffected: maxAffectedOf(c) };
}

/** An operation of its own: the call itself, sent with the same key, runs. Errors: those of `keyScope` and `previewOnce`. */
async function dryRun(
  query: QueryContext,
  c: Context<Env>,
  operation: "query" | "batch",
  preview: () => Promise<object>,
): Promise<Response> {
  const key = c.req.header("idempotency-key");
  const scope = key === undefined ? null : await keyScope(c, `dry run of ${operation}`, key);
  const { text, replayed } = await previewOnce(
    query.replays,
    { scope, namespaceId: c.get("target").namespaceId },
    async () => jsonWithReals({ success: true, ...await preview() }),
  );
  return c.body(text, 200, {
    "content-type": "application/json",
    ...(replayed ? { "idempotency-replayed": "true" } : {}),
  });
}

const validation = z.object({
  ok: z.boolean(),
  class: z.enum(["read", "write", "schema", "refused"]).nullable(),
  tables: z.array(z.string()),
  columns: z.array(z.string()).describe("table.column"),
  role: role.nullable().describe("Least role that may run it"),
  parameters: z.int().nullable().describe(
    "How many values its placeholders take; null where it is no statement",
  ),
  rowsRead: z.int().nullable().describe("About how many rows it reads; null where it cannot run"),
  costUsd: z.number().nullable().describe("Of the request and those rows; what a write changes comes on top"),
  fullScans: z.array(z.string()).describe("Tables that it reads from one end to the other"),
  rule: z.enum(["deny", "require_approval", "rows"]).nullable().describe(
    "What rules would do; rows: it depends on how many rows it changes",
  ),
  hits: z.array(ruleHit),
  error: z.string().optional().describe("What a query would be told; absent where it is ok"),
  errorDetail: errorDetail.optional(),
});

/** Mounted under `/v1/db/:ns/:db`. */
export function validateRoutes(query: QueryContext): Hono<Env> {
  return new Hono<Env>().post(
    "/validate",
    described("Check one SQL statement without running it", validation),
    validate("json", statementBody),
    async (c) => {
      const data = await validateStatement(statementsContext(query, c), c.req.valid("json"));
      return c.json({ success: true, data });
    },
  );
}
