// Resumable plans: `Plan-Key` and `Plan-Step` on any call make its repetition answer what the first one answered.
import type { Context, MiddlewareHandler, Next } from "hono";
import { openAnswer, replayScope, requireReplayKey, sealAnswer } from "../../lib/access/replay_scope.ts";
import type { Claim, Replays, ReplayScope } from "../../lib/control/replays.ts";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../http/env.ts";
import { requestContent } from "./body_text.ts";
import { hasHandler } from "./not_found.ts";

/**
 * Behind bearer and target. Errors: `validation_failed` (one header without the other), `replay_mismatch`,
 * `replay_running`, `meter_unreachable`.
 */
export function plan(replays: Replays): MiddlewareHandler<Env> {
  return (c, next) => {
    const key = c.req.header("plan-key");
    const step = c.req.header("plan-step");
    if ((key === undefined && step === undefined) || !hasHandler(c)) return next();
    return runStep(replays, c, planWords(c, key, step), next);
  };
}

async function runStep(
  replays: Replays,
  c: Context<Env>,
  words: readonly string[],
  next: Next,
): Promise<Response | undefined> {
  const scope = await planScope(c, words);
  const claim = await replays.claim(scope);
  if (claim.state === "mismatch") throw new AppError("replay_mismatch");
  if (claim.state === "running") throw new AppError("replay_running");
  if (claim.state === "kept") return keptResponse(await openAnswer(words, claim.answer));
  c.set("plan", scope);
  try {
    await next();
    if (claim.state === "claimed") await finish(c, claim.claim, words);
    return undefined;
  } finally {
    // An address at which nothing is throws past this; otherwise the claim has ended and this does nothing.
    if (claim.state === "claimed") await claim.claim.release();
  }
}

/** What tells this step from all others. */
function planWords(c: Context<Env>, key: string | undefined, step: string | undefined): readonly string[] {
  if (key === undefined || step === undefined) {
    const missing = key === undefined ? "Plan-Key" : "Plan-Step";
    throw new AppError("validation_failed", {
      issues: [{ path: missing, message: "Send Plan-Key and Plan-Step together, or neither" }],
    });
  }
  requireReplayKey("Plan-Key", key);
  requireReplayKey("Plan-Step", step);
  return ["plan", c.get("token").tokenId, key, step];
}

async function planScope(c: Context<Env>, words: readonly string[]): Promise<ReplayScope> {
  const { pathname, search } = new URL(c.req.url);
  // A look at what a call would do is not the call.
  const look = c.req.header("x-dry-run") === undefined ? "" : "dry run of ";
  const line = `${look}${c.req.method} ${pathname}${search}\n`;
  return replayScope(words, await requestContent(c, line));
}

/** The answer is given whether it can be kept or not: the call has run. */
async function finish(c: Context<Env>, claim: Claim, words: readonly string[]): Promise<void> {
  if (!c.res.ok) await claim.release();
  else if (c.get("keptForPlan")) await claim.keptByTenant().catch(ignore);
  else await claim.keep(await sealAnswer(words, await keptBytes(c.res))).catch(ignore);
}

function ignore(): void {}

/** A line with status and type, then the body. A clone may have lost its type, so that is read from the response. */
async function keptBytes(response: Response): Promise<Uint8Array> {
  const head = JSON.stringify([response.status, response.headers.get("content-type")]);
  const body = await response.clone().bytes();
  const line = new TextEncoder().encode(`${head}\n`);
  const kept = new Uint8Array(line.length + body.length);
  kept.set(line);
  kept.set(body, line.length);
  return kept;
}

function keptResponse(kept: Uint8Array): Response {
  const end = kept.indexOf(10);
  const [status, type]: [number, string | null] = JSON.parse(new TextDecoder().decode(kept.subarray(0, end)));
  return new Response(kept.slice(end + 1), {
    status,
    headers: { "plan-replayed": "true", ...(type === null ? {} : { "content-type": type }) },
  });
}
