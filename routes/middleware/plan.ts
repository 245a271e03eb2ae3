// Resumable plans: with `Plan-Key` and `Plan-Step`, a repeated call answers what the first one answered.
import type { Context, MiddlewareHandler, Next } from "hono";
import { z } from "zod";
import { openAnswer, replayScope, requireReplayKey, sealAnswer } from "../../lib/access/replay_scope.ts";
import type { Claim, Replays, ReplayScope, StoreStep } from "../../lib/control/replays.ts";
import { AppError, invalidInput } from "../../lib/core/errors.ts";
import type { HeldStep } from "../../lib/query/held_call.ts";
import type { Env } from "../http/env.ts";
import { requestContent } from "./body_text.ts";
import { hasHandler } from "./not_found.ts";

/** Parts of `/v1/db/<namespace>/<database>/` before the operation. */
const DATABASE_SEGMENTS = 5;

/**
 * Mounted after bearer and target. Errors: `validation_failed` (one header without the other), `replay_mismatch`,
 * `replay_running`, `meter_unreachable`.
 */
export function plan(replays: Replays): MiddlewareHandler<Env> {
  return (c, next) => {
    if (!isStep(c) || !hasHandler(c)) return next();
    return runStep(replays, c, planWords(c), next);
  };
}

/** Whether the call has a header of plans. */
export function isStep(c: Context<Env>): boolean {
  return c.req.header("plan-key") !== undefined || c.req.header("plan-step") !== undefined;
}

async function runStep(
  replays: Replays,
  c: Context<Env>,
  words: readonly string[],
  next: Next,
): Promise<Response | undefined> {
  const scope = replayScope(words, await requestContent(c, stepLine(c)));
  const { stored, claim } = await claimStep(replays, c, { scope, words });
  if (stored !== null) return storedResponse(stored);
  c.set("plan", scope);
  if (claim !== null) c.set("storeStep", storeStep(claim, words));
  try {
    await next();
    if (claim !== null) await finish(c, claim, words);
    return undefined;
  } finally {
    // A path without a handler throws past this. Otherwise the claim has ended, and this does nothing.
    await claim?.release();
  }
}

/**
 * The answer that is stored for the step, or the claim of whoever may run it: null where the tenant's database has the answer. Errors:
 * `replay_mismatch`, `replay_running`, `meter_unreachable`.
 */
export async function claimStep(
  replays: Replays,
  c: Context<Env>,
  { scope, words }: { readonly scope: ReplayScope; readonly words: readonly string[] },
): Promise<{ readonly stored: Uint8Array | null; readonly claim: Claim | null }> {
  // A branch that was reset, or a database made under the name of a deleted one, has not had this step.
  const claim = await replays.claim(scope, c.get("target").databaseId);
  if (claim.state === "mismatch") throw new AppError("replay_mismatch");
  if (claim.state === "running") throw new AppError("replay_running");
  if (claim.state === "claimed") return { stored: null, claim: claim.claim };
  if (claim.state !== "stored") return { stored: null, claim: null };
  const { isOpen, answer } = claim;
  return { stored: isOpen ? answer : await openAnswer(words, answer), claim: null };
}

/** What distinguishes this step from all others. Errors: `validation_failed` naming a header. */
export function planWords(c: Context<Env>): readonly string[] {
  const key = c.req.header("plan-key");
  const step = c.req.header("plan-step");
  if (key === undefined || step === undefined) {
    const missing = key === undefined ? "Plan-Key" : "Plan-Step";
    throw invalidInput(missing, "Send Plan-Key and Plan-Step together, or neither");
  }
  requireReplayKey("Plan-Key", key);
  requireReplayKey("Plan-Step", step);
  return ["plan", c.get("token").tokenId, key, step];
}

/** What a repetition of the step has in common with it besides the content. */
export function stepLine(c: Context<Env>): string {
  const { pathname, search } = new URL(c.req.url);
  const { namespaceSlug, databaseSlug } = c.get("target");
  // One database has several spellings: `orders`, `orders@main`, `orders%40main`.
  const operation = pathname.split("/").slice(DATABASE_SEGMENTS).join("/");
  const path = `/v1/db/${namespaceSlug}/${databaseSlug}/${operation}`;
  // A dry run is not the call itself.
  const dryRun = c.req.header("x-dry-run") === undefined ? "" : "dry run of ";
  return `${dryRun}${c.req.method} ${path}${search}\n`;
}

function storeStep(claim: Claim, words: readonly string[]): StoreStep {
  return async (commit, { status, data }) => {
    const response = Response.json({ success: true, data }, { status });
    await claim.storeIn(commit, await sealAnswer(words, await storedBytes(response)));
  };
}

/** The call has run, so it is answered whether its answer can be stored or not. */
async function finish(c: Context<Env>, claim: Claim, words: readonly string[]): Promise<void> {
  if (!c.res.ok) await claim.release();
  else if (c.get("storedForPlan")) await claim.storedByTenant().catch(ignore);
  else {
    const { namespaceId } = c.get("target");
    await claim.store(await sealAnswer(words, await storedBytes(c.res)), namespaceId).catch(ignore);
  }
}

/**
 * Stores the answer of a redeemed merge, restore or set of migrations also for the step that was held. It tells no secret, and the words that
 * would seal it are not known here.
 */
export async function storeForHeldStep(
  replays: Replays,
  { databaseId, step }: { readonly databaseId: string; readonly step: HeldStep },
  response: Response,
): Promise<void> {
  // It has run, so it is answered whether its answer can be stored or not.
  const stored = await storedBytes(response);
  const { fileDigest } = step;
  const kept = fileDigest === undefined ? stored : behindDigest(fileDigest, stored);
  await replays.keep(step, databaseId, kept).catch(ignore);
}

function ignore(): void {}

/** What is kept of a step with a file: the file's digest, and the answer behind it. */
export function behindDigest(digest: string, answer: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(digest);
  const whole = new Uint8Array(head.length + answer.length);
  whole.set(head);
  whole.set(answer, head.length);
  return whole;
}

/** Status and content type of a stored answer. */
const storedHead = z.tuple([z.int(), z.string().nullable()]);

/**
 * A line with status and type, then the body. A clone may have lost its type, so the type is read from the response.
 */
export async function storedBytes(response: Response): Promise<Uint8Array> {
  const head = JSON.stringify([response.status, response.headers.get("content-type")]);
  const body = await response.clone().bytes();
  const line = new TextEncoder().encode(`${head}\n`);
  const stored = new Uint8Array(line.length + body.length);
  stored.set(line);
  stored.set(body, line.length);
  return stored;
}

export function storedResponse(stored: Uint8Array): Response {
  const end = stored.indexOf(10);
  const head: unknown = JSON.parse(new TextDecoder().decode(stored.subarray(0, end)));
  const [status, type] = storedHead.parse(head);
  return new Response(stored.slice(end + 1), {
    status,
    headers: { "plan-replayed": "true", ...(type === null ? {} : { "content-type": type }) },
  });
}
