// What changes in a database: GET /changes as a poll or as a stream of server-sent events, POST /changes/ticket for pages,
// and GET /v1/changes/:ticket, which a ticket opens.
import { type Context, Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import type { Target } from "../../lib/access/resolve_target.ts";
import { invalidInput } from "../../lib/core/errors.ts";
import { MAX_WAIT_SEC } from "../../lib/core/limits_of_changes.ts";
import type { ChangesContext } from "../../lib/services/changes/changes_context.ts";
import { pollChanges, requireSince } from "../../lib/services/changes/poll_changes.ts";
import { streamChanges } from "../../lib/services/changes/stream_changes.ts";
import { issueTicket, redeemTicket } from "../../lib/services/changes/tickets.ts";
import { answers, describing, forAnyOrigin, sendData, wholeAnswer } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, noQuery } from "../http/schemas.ts";
import { targetNow } from "../middleware/access.ts";
import { refuseHead } from "../middleware/not_found.ts";
import { noBody, validate } from "../middleware/validate.ts";

const described = describing(["changes"]);

const change = z.object({
  id: z.string().describe("<epoch>-<seq>; send it as since, or as Last-Event-ID, to go on behind it"),
  at: isoTimestamp,
  tables: z.array(z.string()),
  kinds: z.array(z.enum(["insert", "update", "delete", "schema", "restore", "reset"])),
  rows: z.int().describe("Rows changed, by triggers and cascades too"),
});
const since = z.string().max(40).optional().describe(
  "Id of the last change that was read, or now; unset: all that are kept",
);
const tables = z.string().min(1).max(4000).optional().describe("Names with commas between; unset: all");
const pollQuery = z.strictObject({
  since,
  waitSec: z.coerce.number().int().min(0).max(MAX_WAIT_SEC).default(0).describe(
    "Seconds to wait where nothing has changed yet; a stream waits anyway",
  ),
  tables,
});
const ticketQuery = z.strictObject({ since, tables });
const ticket = z.object({ ticket: z.string(), url: z.string(), expiresAt: isoTimestamp });
const pollMeta = z.object({ cursor: z.string().describe("since of the next call") });

/** Mounted under `/v1/db/:ns/:db`. */
export function changesRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/changes",
      described("Read what has changed, oldest first; as server-sent events by Accept", z.array(change), {
        meta: pollMeta,
        events: true,
      }),
      validate("query", pollQuery),
      async (c) => {
        const query = c.req.valid("query");
        const ctx = contextOf(deps, c.get("target"));
        if (wantsEvents(c)) {
          refuseHead(c);
          refusePlan(c);
          return await sendEvents(c, ctx, { ...query, again: () => targetNow(deps, c) });
        }
        const { changes, cursor } = await pollChanges(ctx, {
          since: query.since ?? null,
          tables: namesIn(query.tables),
          waitMs: query.waitSec * 1000,
          signal: c.req.raw.signal,
          again: () => targetNow(deps, c),
        });
        return c.json({ success: true, data: changes, meta: { cursor } });
      },
    )
    .post(
      "/changes/ticket",
      described("Get a ticket by which a page opens one stream of changes", ticket, { status: 201 }),
      validate("query", noQuery),
      noBody,
      async (c) => {
        const ctx = { ...deps, target: c.get("target"), token: c.get("token") };
        return sendData(c, await issueTicket(ctx), 201);
      },
    );
}

/** Mounted under `/v1` before a bearer is required: the ticket is the proof. */
export function ticketRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().get(
    "/changes/:ticket",
    describeRoute({
      summary: "Open a stream of changes by a ticket",
      tags: ["changes"],
      security: [],
      responses: {
        200: { description: "Server-sent events", content: { "text/event-stream": {} } },
        default: answers(z.null())["default"] ?? { description: "Failure" },
      },
    }),
    validate("query", ticketQuery),
    async (c) => {
      refuseHead(c);
      const query = c.req.valid("query");
      requireSince(startOf(c, query.since));
      const { target, again } = await redeemTicket(deps, c.req.param("ticket"));
      return await sendEvents(c, contextOf(deps, target), { ...query, again });
    },
  );
}

/** To be given again its answer would have to end. Errors: `validation_failed`. */
function refusePlan(c: Context<Env>): void {
  if (c.get("plan") === undefined) return;
  throw invalidInput("Plan-Key", "Leave Plan-Key and Plan-Step out; a stream is no step of a plan");
}

interface EventsQuery {
  readonly since?: string | undefined;
  readonly tables?: string | undefined;
  readonly again: () => Promise<Target>;
}

async function sendEvents(
  c: Context<Env>,
  ctx: ChangesContext,
  { since, tables, again }: EventsQuery,
): Promise<Response> {
  const stream = await streamChanges(ctx, {
    since: startOf(c, since),
    tables: namesIn(tables),
    isAllowed: async () => (await again()).databaseId === ctx.target.databaseId,
    // A connection without news is silent, and would be ended.
    taken: () => c.env?.expectLargeAnswer?.(0),
  });
  return wholeAnswer(c, stream, {
    status: 200,
    headers: {
      ...forAnyOrigin,
      "content-type": "text/event-stream",
      // What is compressed waits for company, here and in proxies.
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    },
  });
}

/** Where a stream begins: a client that connects again knows better than its address. */
function startOf(c: Context<Env>, since: string | undefined): string | null {
  return c.req.header("last-event-id") ?? since ?? null;
}

function contextOf({ control, query, changes: feeds }: AppDeps, target: Target): ChangesContext {
  return { control, query, feeds, target };
}

function wantsEvents(c: Context<Env>): boolean {
  return /\btext\/event-stream\b/i.test(c.req.header("accept") ?? "");
}

function namesIn(tables: string | undefined): string[] | null {
  return tables?.split(",").map((name) => name.trim()).filter((name) => name !== "") ?? null;
}
