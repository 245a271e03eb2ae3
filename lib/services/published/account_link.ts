// Links by which the users of an app prove that an address is theirs: made for a mail or for the owner's own server,
// used once.
import { DAY_MS, MINUTE_MS } from "../../core/clock.ts";
import { hash } from "node:crypto";
import { isToken, newToken, tokenHash } from "../../access/token_format.ts";
import type { LiveAccountToken } from "../../control/account_tokens.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import { foldName } from "../../sql/words/names.ts";
import type { AccountTokenRecord } from "../../store/account_records.ts";
import { type Also, nothingElse } from "../../store/until_committed.ts";
import { usersTableOf } from "../endpoints/spec/users_table.ts";
import { type Account, accountByKey } from "./find_account.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";

/** Milliseconds for which a link is good. */
const LIFETIME_MS = { reset: 30 * MINUTE_MS, verify: DAY_MS } as const;

/** A link that was made. */
export interface AccountLink {
  readonly link: string;
  readonly token: string;
  readonly untilMs: number;
}

/** The two kinds of endpoints that make links. */
export function purposeOf({ kind }: Pick<EndpointSpec, "kind">): AccountTokenRecord["purpose"] {
  return kind === "auth_reset" ? "reset" : "verify";
}

/**
 * The token stands behind `#`: browsers send it to no server and in no Referer, and a program that looks at the links of
 * mails uses nothing up. `also`: what is to happen with it, or not at all. Null for an account without an address. Errors: `meter_unreachable`.
 */
export async function makeLink(
  { control, clock }: Pick<PublishedContext, "control" | "clock">,
  call: EndpointCall,
  { key, email, hash }: Account,
  also: Also = nothingElse,
): Promise<AccountLink | null> {
  if (email === null) return null;
  const { record: { spec }, target: { databaseId } } = call;
  const { slug, authConfig } = spec;
  const purpose = purposeOf(spec);
  const untilMs = clock.now() + LIFETIME_MS[purpose];
  const token = newToken("pacc_");
  const passwordDigest = digest(hash);
  const table = foldName(usersTableOf(spec));
  await control.accountTokens.add(
    tokenHash(token),
    { purpose, databaseId, slug, table, key, email, passwordDigest, untilMs },
    also,
  );
  const page = (purpose === "reset" ? authConfig?.resetUrl : authConfig?.verifyUrl) ?? "";
  return { link: `${page}#token=${token}`, token, untilMs };
}

/** A token that is good for this endpoint. Errors: `link_invalid`, `meter_unreachable`. */
export async function findLink(
  { control }: Pick<PublishedContext, "control">,
  call: EndpointCall,
  token: string,
): Promise<LiveAccountToken> {
  const { record: { spec }, target: { databaseId } } = call;
  const found = isToken("pacc_", token) ? await control.accountTokens.find(tokenHash(token)) : null;
  const isHere = found !== null && found.value.purpose === purposeOf(spec) &&
    found.value.slug === spec.slug && found.value.databaseId === databaseId &&
    found.value.table === foldName(usersTableOf(spec));
  if (!isHere) throw new AppError("link_invalid");
  return found;
}

/** The account that a link was made for, while it has that address, and for a reset that password. Errors: `link_invalid`, the pipeline's. */
export async function accountOfLink(
  ctx: Pick<PublishedContext, "control" | "query">,
  call: EndpointCall,
  { value }: LiveAccountToken,
): Promise<Account> {
  const account = await accountByKey(ctx, call, String(value.key));
  const isSame = account !== null && account.email === value.email &&
    (value.purpose === "verify" || digest(account.hash) === value.passwordDigest);
  if (!isSame) throw new AppError("link_invalid");
  return account;
}

/**
 * Uses the link up and does what it is for: of several callers one does. Where that has failed and nothing was kept the
 * link is good again. Errors: `link_invalid`, those of `work`.
 */
export async function useLink<Value>(
  { control: { accountTokens } }: Pick<PublishedContext, "control">,
  link: LiveAccountToken,
  work: () => Promise<Value | null>,
): Promise<Value> {
  if (!await accountTokens.use(link)) throw new AppError("link_invalid");
  let done: Value | null;
  try {
    done = await work();
  } catch (error) {
    if (nothingKept(error)) await accountTokens.giveBack(link);
    throw error;
  }
  if (done === null) throw new AppError("link_invalid");
  return done;
}

/** A lost link can be asked for again; one that counts twice would run the triggers of the app twice. */
function nothingKept(error: unknown): boolean {
  return error instanceof AppError && error.code !== "outcome_unknown";
}

function digest(stored: string | null): string {
  return hash("sha256", stored ?? "", "hex");
}
