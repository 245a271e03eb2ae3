// Schemas of the requests of libSQL clients. The protocol wants unknown fields ignored, so objects are not strict here; what is
// known is checked like everywhere.
import { z } from "zod";
import { MAX_PARAMETERS, MAX_SQL_LENGTH } from "../../lib/core/limits.ts";
import { MAX_HRANA_REQUESTS, MAX_HRANA_STEPS } from "../../lib/core/limits_hrana.ts";
import { readListOf } from "../middleware/list_of.ts";
import { readCondition } from "./conditions.ts";

const value = z.discriminatedUnion("type", [
  z.object({ type: z.literal("null") }),
  z.object({ type: z.literal("integer"), value: z.string() }),
  z.object({ type: z.literal("float"), value: z.number() }),
  z.object({ type: z.literal("text"), value: z.string() }),
  z.object({ type: z.literal("blob"), base64: z.string() }),
]);

const sqlId = z.int32();
const text = { sql: z.string().max(MAX_SQL_LENGTH).nullish(), sql_id: sqlId.nullish() };

const statement = z.object({
  ...text,
  args: readListOf(value, MAX_PARAMETERS).nullish(),
  named_args: readListOf(z.object({ name: z.string(), value }), MAX_PARAMETERS).nullish(),
  want_rows: z.boolean().nullish(),
});

const batch = z.object({
  steps: readListOf(z.object({ condition: z.unknown().optional(), stmt: statement }), MAX_HRANA_STEPS),
}).transform(({ steps }, ctx) => ({
  steps: steps.map(({ condition, stmt }, at) => {
    const read = readCondition(condition ?? null, at);
    if (read !== undefined) return { condition: read, stmt };
    ctx.issues.push({
      code: "custom",
      message: "Send a condition of the protocol that names earlier steps only",
      path: ["steps", at, "condition"],
      input: condition,
    });
    return z.NEVER;
  }),
}));

const id = z.int32();
const execute = z.object({ type: z.literal("execute"), stmt: statement });

/** One request of a stream. */
const streamRequest = z.discriminatedUnion("type", [
  execute,
  z.object({ type: z.literal("batch"), batch }),
  z.object({ type: z.literal("sequence"), sql: z.string().nullish(), sql_id: sqlId.nullish() }),
  z.object({ type: z.literal("describe"), ...text }),
  z.object({ type: z.literal("store_sql"), sql_id: sqlId, sql: z.string() }),
  z.object({ type: z.literal("close_sql"), sql_id: sqlId }),
  z.object({ type: z.literal("get_autocommit") }),
  z.object({ type: z.literal("close") }),
]);

/** What of a request on a socket tells which answer is its own. */
export const numberedRequest = z.object({
  type: z.literal("request"),
  request_id: id,
  request: z.object({}),
});

/** A message on a socket. */
export const clientMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("hello"), jwt: z.string().max(1000).nullish() }),
  z.object({
    type: z.literal("request"),
    request_id: id,
    request: z.discriminatedUnion("type", [
      z.object({ type: z.enum(["open_stream", "close_stream"]), stream_id: id }),
      execute.extend({ stream_id: id }),
      z.object({ type: z.literal("batch"), batch, stream_id: id }),
      z.object({
        type: z.literal("sequence"),
        sql: z.string().nullish(),
        sql_id: sqlId.nullish(),
        stream_id: id,
      }),
      z.object({ type: z.literal("describe"), ...text, stream_id: id }),
      z.object({ type: z.literal("store_sql"), sql_id: sqlId, sql: z.string() }),
      z.object({ type: z.literal("close_sql"), sql_id: sqlId }),
      z.object({ type: z.literal("get_autocommit"), stream_id: id }),
      z.object({ type: z.literal("open_cursor"), stream_id: id, cursor_id: id, batch }),
      z.object({ type: z.literal("fetch_cursor"), cursor_id: id, max_count: z.int32().min(0) }),
      z.object({ type: z.literal("close_cursor"), cursor_id: id }),
    ]),
  }),
]);

const baton = z.string().max(2_000_000).nullish().transform((text) => text ?? null);

/** The body of `POST …/pipeline`. */
export const pipelineBody = z.object({
  baton,
  requests: readListOf(streamRequest, MAX_HRANA_REQUESTS),
});

/** The body of `POST …/cursor`. */
export const cursorBody = z.object({ baton, batch });

/** The bodies of version 1, which asks for one thing at a time. */
export const firstVersionBodies = {
  execute: z.object({ stmt: statement }).transform(({ stmt }) => ({ type: "execute" as const, stmt })),
  batch: z.object({ batch }).transform(({ batch }) => ({ type: "batch" as const, batch })),
};
