// Holds a write that needs a person's approval, with its effect, and hands the approval token to the caller:
// a repetition with the same key gets the same token.
import { derivedToken, newToken, tokenHash } from "../access/token_format.ts";
import { APPROVAL_MS, type RepeatableCall } from "../control/approvals.ts";
import { isoTime } from "../core/clock.ts";
import type { Rules } from "../control/rules.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";
import type { ApprovalRecord } from "../store/write_records.ts";
import { affectedRows, type CallPreview, cascadedRows, type HeldStep, writeHeldCall } from "./held_call.ts";
import { hitsOf, type RuleMatch } from "./match_rules.ts";
import type { CallReplay, QueryCall, QueryContext, QueryTarget, UnderstoodCall } from "./query_call.ts";

/** The call that is to wait for a person, and why. */
export interface ToHold {
  readonly target: QueryTarget;
  readonly tokenId: string;
  /** The kind of the call, as the query log names it. */
  readonly operation: string;
  /** Identifies repetitions of the call, which wait for the same approval; null: each waits for an approval of its own. */
  readonly replay: CallReplay | null;
  /** As a call has it: it counts before `replay`. */
  readonly heldAs?: QueryCall["heldAs"] | undefined;
  readonly matches: readonly RuleMatch[];
  readonly affectedRows: number | null;
  /** How many of them are those of triggers and cascades; absent or null: not known. */
  readonly cascadedRows?: number | null;
  /** Writes the call in the form of `held_call.ts`, given what its approval covers. */
  readonly text: (covers: readonly string[]) => string;
}

/** The parts of the process that holding a call needs. */
export type HoldContext = Pick<
  QueryContext,
  "approvals" | "held" | "hashes" | "clock" | "baseUrl" | "tenants"
>;

/**
 * Approvals of one call that are looked through. The newest one is found at once, but an older service has kept no number
 * of it; what it has made is gone two days after the update.
 */
const MAX_LOOKED = 200;

/** Holds a call of statements with these effects, and returns its error. Errors: `meter_unreachable`. */
export function holdCall(
  ctx: HoldContext,
  { call, schemaVersion }: UnderstoodCall,
  held: Pick<ToHold, "matches"> & CallPreview,
): Promise<AppError> {
  const { matches, effects } = held;
  const { target, tokenId, replay, operation, heldAs } = call;
  const migrations = call.migrations && { ...call.migrations, schemaVersion };
  return holdForApproval(ctx, {
    target,
    tokenId,
    operation,
    replay,
    heldAs,
    matches,
    affectedRows: affectedRows(effects),
    cascadedRows: cascadedRows(effects),
    text: (covers) => writeHeldCall(call, { ...held, ...(migrations ? { migrations } : {}) }, covers),
  });
}

/** Holds a call, and returns the error with the approval envelope, or `too_many_approvals`. Errors: `meter_unreachable`. */
export async function holdForApproval(ctx: HoldContext, toHold: ToHold): Promise<AppError> {
  return await untilCommitted(async () => {
    const chosen = await chooseToken(ctx, toHold);
    const { token, waiting } = chosen;
    const record = waiting ?? await askForApproval(ctx, chosen, toHold);
    if (record === "too_many") return new AppError("too_many_approvals");
    // Repetitions are held at the same moment.
    if (record === "known") return FASTER;
    return approvalRequired(ctx, token, { record, target: toHold.target });
  });
}

/** What the repetitions of a step have in common: another file is another call. */
export function replayOfStep({ key, requestHash, fileDigest = "" }: HeldStep): CallReplay {
  return { idempotency: null, plan: { key, requestHash: `${requestHash}${fileDigest}` } };
}

/** The error of the same step that waits for a person already, while one of the rules that hold it does; null: none waits. */
export async function heldBefore(
  ctx: HoldContext & { readonly rules: Pick<Rules, "of"> },
  { target, step }: { readonly target: QueryTarget; readonly step: HeldStep },
): Promise<AppError | null> {
  const { token, waiting } = await chooseToken(ctx, { target, replay: replayOfStep(step) });
  const rules = waiting && await ctx.rules.of(target.databaseId) || [];
  const holds = ({ ruleId }: { readonly ruleId: string }) =>
    rules.some(({ id, enabled }) => enabled && id === ruleId);
  return waiting?.hits.some(holds) ? approvalRequired(ctx, token, { record: waiting, target }) : null;
}

/** The token of a held call, and its approval where one is open. */
interface ChosenToken {
  readonly token: string;
  /** Null: the approval is yet to be made. */
  readonly waiting: ApprovalRecord | null;
  /** Null: nobody can make the token again. */
  readonly call: RepeatableCall | null;
}

/**
 * Makes the token, and finds its approval where that still waits for a decision or to be redeemed, or is being redeemed.
 * Only the token's hash is stored; this service, and nobody else, can make the token of a repeatable call again.
 */
async function chooseToken(
  { approvals, hashes }: HoldContext,
  { replay, target, heldAs }: Pick<ToHold, "replay" | "target" | "heldAs">,
): Promise<ChosenToken> {
  const scope = typeof heldAs === "function" ? heldAs() : replay?.idempotency ?? replay?.plan ?? null;
  if (scope === null) return { token: newToken("appr_"), waiting: null, call: null };
  // Another database may have the path of a plan's step by now, so the database's id counts too.
  const words = [target.databaseId, scope.key, scope.requestHash];
  const hash = await hashes.of("approvals of a call", ...words);
  // Those before the newest one were closed when it was made. The first of them are forgotten earlier, and what is free
  // there must not become a second approval beside one that is open.
  const newest = await approvals.newestOf(hash);
  for (let number = newest; number < newest + MAX_LOOKED; number++) {
    const call = { hash, number };
    const token = derivedToken("appr_", await hashes.of("approval", ...words, String(number)));
    const record = await approvals.byHash(tokenHash(token));
    if (record === null) return { token, waiting: null, call };
    const isOpen = ["pending", "approved"].includes(approvals.stateOf(record));
    // A second approval beside one that comes back would let a person approve the same write twice.
    if (isOpen || approvals.isBeingRedeemed(record)) return { token, waiting: record, call };
  }
  return { token: newToken("appr_"), waiting: null, call: null };
}

/** Stores the approval, unless a repetition came first or there is no room for it. */
async function askForApproval(
  ctx: HoldContext,
  { token, call }: ChosenToken,
  { target, tokenId, operation, matches, affectedRows, cascadedRows = null, text }: ToHold,
): Promise<ApprovalRecord | "known" | "too_many"> {
  const asker = await ctx.approvals.askerOf({ namespaceId: target.namespaceId, tokenId });
  const asking = { requestedBy: tokenId, ...(asker === tokenId ? {} : { askedFor: asker }) };
  if (await ctx.approvals.areMany({ ...target, ...asking })) return "too_many";
  const now = ctx.clock.now();
  const id = newId("apv", now);
  const expiresAt = now + APPROVAL_MS;
  const covers = matches.flatMap(({ about }) => about);
  const { namespaceId } = target;
  const pieces = await ctx.held.keep(id, { namespaceId, text: text(covers) }, expiresAt + APPROVAL_MS);
  if (pieces === null) return "too_many";
  const record: ApprovalRecord = {
    id,
    tokenHash: tokenHash(token),
    page: approvalUrl(ctx.baseUrl, target.namespaceSlug, id),
    namespaceId,
    databaseId: target.databaseId,
    databaseSlug: target.databaseSlug,
    branchRef: target.branchRef,
    ...asking,
    operation,
    state: "pending",
    hits: hitsOf(matches),
    affectedRows,
    cascadedRows,
    tolerance: Math.min(...matches.map(({ rule }) => rule.tolerance)),
    createdAt: now,
    expiresAt,
    decidedAt: null,
    reason: null,
    pieces,
  };
  const added = await ctx.approvals.add(record, call);
  if (added === "added") {
    ctx.tenants.commits.tell(record.databaseId);
    return record;
  }
  await ctx.held.drop(id, pieces);
  return added;
}

function approvalRequired(
  { baseUrl }: HoldContext,
  token: string,
  { record, target }: { readonly record: ApprovalRecord; readonly target: QueryTarget },
): AppError {
  return new AppError("approval_required", {
    extra: {
      approvalToken: token,
      approvalUrl: approvalUrl(baseUrl, target.namespaceSlug, record.id),
      hits: record.hits,
      expiresAt: isoTime(record.expiresAt),
    },
  });
}

/** The page on which a person decides. */
export function approvalUrl(baseUrl: string, namespaceSlug: string, approvalId: string): string {
  return `${baseUrl}/console/${namespaceSlug}/approvals/${approvalId}`;
}

/** The id of the approval that an `approval_required` names by its page; null for any other error. */
export function approvalIdOf({ code, facts }: AppError): string | null {
  const url = code === "approval_required" ? facts.extra?.["approvalUrl"] : undefined;
  return typeof url === "string" ? url.slice(url.lastIndexOf("/") + 1) : null;
}
