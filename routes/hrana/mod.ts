// The door for clients of libSQL: pipelines and cursors over HTTP, and sockets.
import { type Context, Hono, type Next } from "hono";
import { bearer } from "../../lib/access/authenticate.ts";
import { AppError, invalidInput } from "../../lib/core/errors.ts";
import { answerOnce } from "../../lib/services/hrana/answer_once.ts";
import {
  answerCursor,
  answerPipeline,
  type PipelineAnswer,
} from "../../lib/services/hrana/answer_pipeline.ts";
import { parseRoundedJson } from "../../lib/guard/parse_json.ts";
import type { DoorOptions } from "../../lib/services/hrana/hrana_types.ts";
import type { KeptStreams } from "../../lib/services/hrana/kept_streams.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isUpgrade } from "../http/is_upgrade.ts";
import { bodyText } from "../middleware/body_text.ts";
import { maxAffectedOf, snapshots } from "../middleware/header_flag.ts";
import { sendJson, sendPreflight } from "./answers.ts";
import { type DoorPath, readDoorPath, readSocketPath } from "./door_path.ts";
import { isPlainPipeline } from "./plain_requests.ts";
import { cursorBody, firstVersionBodies, pipelineBody } from "./request_schemas.ts";
import { openSocket } from "./socket.ts";
import { doorOf, type EnterDoor } from "./target.ts";
import { checked } from "../middleware/validate.ts";

/** Mounted at the root: `/hrana/<namespace>/…`, and `/v1/execute`, `/v1/batch`, `/v2`, `/v3` for tokens that reach one database. */
export function hranaRoutes(deps: AppDeps): Hono<Env> {
  const enter = doorOf(deps);
  const { hrana: { kept, sockets }, log } = deps;
  return new Hono<Env>()
    .use("/hrana/*", preflight)
    .use("/v2/*", preflight)
    .use("/v3/*", preflight)
    .get("/", async (c, next) => {
      const database = { namespaceSlug: null, database: null };
      return isUpgrade(c) ? openSocket({ sockets, enter, log }, c, database) : await next();
    })
    .get("/hrana/:ns/:call{.+}", (c) => {
      if (!isUpgrade(c)) return answerGet(readDoorPath(c.req.param("call")));
      const path = readSocketPath(c.req.param("call"));
      if (path === null) throw new AppError("not_found");
      return openSocket({ sockets, enter, log }, c, {
        namespaceSlug: c.req.param("ns"),
        database: path.database,
      });
    })
    .post("/hrana/:ns/:call{.+}", (c) => {
      const path = readDoorPath(c.req.param("call"));
      return answerPost({ kept, enter }, c, { namespaceSlug: c.req.param("ns"), path });
    })
    .post("/v1/execute", (c) => {
      const path = { database: null, call: "execute" } as const;
      return answerPost({ kept, enter }, c, { namespaceSlug: null, path });
    })
    .post("/v1/batch", (c) => {
      const path = { database: null, call: "batch" } as const;
      return answerPost({ kept, enter }, c, { namespaceSlug: null, path });
    })
    .get("/v2", () => answerGet({ database: null, call: "version" }))
    .get("/v3", () => answerGet({ database: null, call: "version" }))
    .post("/v2/:operation", (c) => {
      const path = readDoorPath(`v2/${c.req.param("operation")}`);
      return answerPost({ kept, enter }, c, { namespaceSlug: null, path });
    })
    .post("/v3/:operation", (c) => {
      const path = readDoorPath(`v3/${c.req.param("operation")}`);
      return answerPost({ kept, enter }, c, { namespaceSlug: null, path });
    });
}

/** A browser asks before a page calls. */
function preflight(c: Context<Env>, next: Next): Promise<Response | void> {
  return c.req.method === "OPTIONS" ? Promise.resolve(sendPreflight()) : next();
}

/** Clients ask which versions there are. */
function answerGet(path: DoorPath | null): Response {
  if (path?.call !== "version") throw new AppError("not_found");
  return new Response(null, { status: 200 });
}

async function answerPost(
  { kept, enter }: { readonly kept: KeptStreams; readonly enter: EnterDoor },
  c: Context<Env>,
  { namespaceSlug, path }: { readonly namespaceSlug: string | null; readonly path: DoorPath | null },
): Promise<Response> {
  if (path === null || path.call === null || path.call === "version") throw new AppError("not_found");
  const token = bearer(c.req.header("authorization"));
  const admit = () => enter(token, { namespaceSlug, database: path.database });
  c.get("arrival").admit = admit;
  const entering = admit();
  const ctx = entering instanceof Promise ? await entering : entering;
  const options = optionsOf(c, ctx.clock.monotonicMs());
  if (path.call === "cursor") {
    const body = checked(cursorBody, parseRoundedJson(await bodyText(c)));
    const lines = await answerCursor(ctx, kept, { ...body, options });
    return sendJson(c, lines, { "content-type": "text/plain; charset=utf-8" });
  }
  if (path.call !== "pipeline") {
    const request = checked(firstVersionBodies[path.call], parseRoundedJson(await bodyText(c)));
    return sendAnswer(c, await answerOnce(ctx, request, options));
  }
  const input = parseRoundedJson(await bodyText(c));
  const { baton = null, requests } = isPlainPipeline(input) ? input : checked(pipelineBody, input);
  return sendAnswer(c, await answerPipeline(ctx, kept, { baton, requests, options }));
}

function sendAnswer(c: Context<Env>, { body, replayed }: PipelineAnswer): Response {
  return sendJson(c, body, replayed ? { "idempotency-replayed": "true" } : {});
}

/** Headers that mean nothing here and would change what a call does: one that is not heeded must not pass. */
const ELSEWHERE = ["X-Dry-Run", "X-Integers", "Plan-Key", "Plan-Step"];

/** Errors: `validation_failed` naming the header. */
function optionsOf(c: Context<Env>, beganMs: number): DoorOptions {
  const other = ELSEWHERE.find((name) => c.req.header(name) !== undefined);
  if (other !== undefined) {
    throw invalidInput(other, "Leave the header out; it belongs to calls under /v1");
  }
  return {
    maxAffected: maxAffectedOf(c),
    snapshots: snapshots(c),
    idempotencyKey: c.req.header("idempotency-key") ?? null,
    signal: () => c.req.raw.signal,
    beganMs,
  };
}
