// Answers: the envelope in the API description, the pages of lists, and answers that are made whole.
import type { Context } from "hono";
import { describeRoute, type DescribeRouteOptions } from "hono-openapi";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import { describedSchema } from "./described_schema.ts";
import { answerLimits } from "../../lib/core/limits.ts";
import type { ShownPage } from "../../lib/services/shown_page.ts";
import { jsonWithReals } from "../../lib/sql/words/row_form.ts";
import type { Env } from "./env.ts";
import { errorDetail, isoTimestamp, ruleHit } from "./schemas.ts";

/** Options of a described answer. */
export interface AnswerOptions {
  readonly meta?: z.ZodType;
  readonly status?: 200 | 201;
  /** Server-sent events for whoever accepts them. */
  readonly events?: true;
  /** Another success with data of its own. */
  readonly also?: { readonly status: 200 | 201; readonly data: z.ZodType; readonly description: string };
}

/** `responses` of a route whose success carries `data` (and `meta` where given). */
export function answers(
  data: z.ZodType,
  { meta, status = 200, events, also }: AnswerOptions = {},
): NonNullable<DescribeRouteOptions["responses"]> {
  const success = (description: string, data: z.ZodType) => ({
    description,
    content: {
      "application/json": {
        schema: describedSchema(z.object({ success: z.literal(true), data, ...(meta ? { meta } : {}) })),
      },
      ...(events ? { "text/event-stream": {} } : {}),
    },
  });
  return {
    [status]: success("Success", data),
    ...(also ? { [also.status]: success(also.description, also.data) } : {}),
    default: {
      description: "Failure",
      content: { "application/json": { schema: describedSchema(failureEnvelope) } },
    },
  };
}

/** Describes routes of the API, each by what it does and the data of its answer. */
export function describing(
  tags: string[],
): (summary: string, data: z.ZodType, options?: AnswerOptions) => ReturnType<typeof describeRoute> {
  return (summary, data, options) => describeRoute({ summary, tags, responses: answers(data, options) });
}

const failureEnvelope = z.object({
  success: z.literal(false),
  error: z.string(),
  code: z.string(),
  errorDetail: errorDetail.optional(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).min(1).optional(),
  failedIndex: z.int().nullable().optional().describe(
    "Place of the statement of a batch or of a migration file that failed, from 0; null: no single one did",
  ),
  data: z.unknown().optional().describe("What a stopped batch kept, by statement; the report of a merge"),
  affected: z.int().optional().describe("Rows that the write would change: more than X-Max-Affected"),
  hits: z.array(ruleHit).optional().describe("What rules say of a write that is held or denied"),
  approvalToken: z.string().optional().describe("Redeems the held write once a person has approved it"),
  approvalUrl: z.string().optional(),
  expiresAt: isoTimestamp.optional(),
  reason: z.string().nullable().optional().describe("Of the person who denied it"),
  approvedRows: z.int().nullable().optional(),
  affectedRows: z.int().nullable().optional().describe("Rows that the approved write would change now"),
  look: z.int().optional().describe("To be sent with the approval of what the write would do now"),
  file: z.string().optional().describe("The migration file that it is about"),
  line: z.int().nullable().optional().describe("Where in the file the statement begins"),
  applied: z.array(z.string()).optional().describe("Migration files that the call has applied before"),
  pending: z.array(z.string()).optional().describe("Migration files that are still to be applied"),
  sha256: z.string().optional().describe("Of the migration file as it was sent"),
  appliedSha256: z.string().optional().describe("Of the migration file as it was applied"),
  behind: z.string().optional().describe("The migration file that it would have to come after"),
  rows: z.int().optional().describe("Rows of an import that were appended before, and stay"),
}).meta({ ref: "Failure" });

/** The answer of a call that went well. */
export function sendData(c: Context<Env>, data: unknown, status?: 200 | 201): Response {
  return c.json({ success: true, data }, status);
}

/** The answer of a list: its records, and the cursor of the next page. */
export function sendPage(c: Context<Env>, { items, nextCursor }: ShownPage<object>): Response {
  return c.json({ success: true, data: items, meta: { nextCursor } });
}

/**
 * An answer with rows among other things: `c.json` would write a REAL beyond 2^53 as a whole number. A large one is held until its
 * client has taken it, as results are.
 */
export function sendWithRows(
  c: Context<Env>,
  body: object,
  status: ContentfulStatusCode = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const text = jsonWithReals(body);
  const all = { ...headers, "content-type": "application/json" };
  return text.length > answerLimits.freeBytes
    ? wholeAnswer(c, text, { status, headers: all })
    : c.body(text, status, all);
}

/** Any page may read the answer: where only a token counts, and never a cookie. */
export const forAnyOrigin = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Idempotency-Replayed, Retry-After, X-Request-Id",
} as const;

/** Characters that every client receives in the time that a silent connection has. */
const LARGE = 1024 * 1024;

/**
 * An answer with all of its headers. `headers` has names in lower case, and the request id is added to it. A body of bytes up to
 * `copiedBytes` is copied: whoever made it may use its memory again.
 */
export function wholeAnswer(
  c: Context<Env>,
  body: BodyInit | null,
  { status, headers }: { readonly status: number; readonly headers: Record<string, string> },
): Response {
  const arrival = c.get("arrival");
  headers["x-request-id"] = arrival.requestId;
  const isHeld = isWhole(body) && body.length > answerLimits.freeBytes;
  const sent = isHeld ? heldBody(c, body, headers) : body;
  return arrival.wholeAnswer = answerOf(sent, status, headers);
}

/**
 * The runtime (2.9) makes a native copy of a text that is constructed with several headers, and registers it with a
 * finalizer. A text that is constructed with its type alone gets no copy, and headers that are appended are sent as well.
 */
function answerOf(
  body: BodyInit | null,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  const type = headers["content-type"];
  if (status !== 200 || typeof body !== "string" || type === undefined) {
    return new Response(body, { status, headers });
  }
  const answer = new Response(body, { headers: { "content-type": type } });
  const list = answer.headers;
  for (const name in headers) if (name !== "content-type") list.append(name, headers[name] ?? "");
  return answer;
}

/** Guarantee: no memory that threads share is given to an answer. */
function isWhole(body: BodyInit | null): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}

/** The body as it is sent: in pieces, with its length told, where nobody knows when the client has taken it. */
function heldBody(
  c: Context<Env>,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): BodyInit {
  if (body.length > LARGE) c.env?.expectLargeAnswer?.(body.length);
  // It is read once more, to be stored, or for its length.
  if (c.get("plan") !== undefined && !c.get("storedForPlan") || c.req.method === "HEAD") return body;
  const owner = c.get("target")?.namespaceId ?? c.req.param("ns") ?? c.get("arrival").peer?.hostname ?? "";
  // HTTP/2 carries several answers at a time. The runtime refuses its requests with this header, as it does not with `Host`.
  const inTurn = c.req.header("connection") !== undefined;
  const held = c.env?.holdAnswer?.(body, owner, inTurn) ?? null;
  if (held === null) return body;
  headers["content-length"] = String(held.sizeBytes);
  return held.body;
}
