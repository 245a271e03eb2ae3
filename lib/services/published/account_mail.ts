// Mails with links: asked for without a look at the accounts, written beside the request.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import { PLAIN_ROWS } from "../../sql/words/row_form.ts";
import { checkRate } from "../../guard/rate_limit.ts";
import type { Mail } from "../mail/mailer.ts";
import type { MailRequest } from "../mail/mail_queue.ts";
import { makeLink, purposeOf } from "./account_link.ts";
import { accountByEmail } from "./find_account.ts";
import { spelledAccount } from "./guess_password.ts";
import { resolveEndpoint } from "./public_address.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { isVerified } from "./verified_column.ts";

/** Mails to one address of one endpoint. */
const LIMIT = { perMin: 1, perDay: 10 } as const;

/**
 * Asks for the mail. Whether there is such an account is looked up later: the answer says nothing about it, nor does its
 * time. Errors: `mail_unavailable`, `rate_limited`, `mail_busy`, `meter_unreachable`.
 */
export async function askForMail(ctx: PublishedContext, call: EndpointCall, email: string): Promise<void> {
  const { record, target: { namespaceId, namespaceSlug, databaseSlug } } = call;
  if (ctx.mail === null) throw new AppError("mail_unavailable");
  const account = await spelledAccount(ctx, record, email);
  // A slash stands in no slug: these are counters of their own.
  const subject = { databaseId: record.databaseId, slug: `${record.spec.slug}/mail`, client: account };
  const { admitted, retryAfterSec } = await checkRate(ctx.rateCounters, subject, {
    limit: LIMIT,
    nowMs: () => ctx.clock.now(),
  });
  if (!admitted) {
    const message = "Look for the mail that was asked for; the next one can be asked for later";
    throw new AppError("rate_limited", { message, retryAfterSec });
  }
  await ctx.mail.add({
    namespaceId,
    namespaceSlug,
    databasePath: databaseSlug,
    slug: record.spec.slug,
    email,
  });
}

/** What the writing of a mail needs. */
export interface MailContext extends PublishedContext {
  /** Mails of one namespace in a day. */
  readonly mailPerDay: number;
}

/**
 * The mail for a request, to the address as the users table has it. Null: there is no such account, it is verified
 * already, or the endpoint is gone. Errors: `rate_limited` where the namespace has sent its mails of the day, those of
 * the store.
 */
export async function writeMail(ctx: MailContext, request: MailRequest): Promise<Mail | null> {
  const { namespaceId, namespaceSlug, databasePath, slug, email } = request;
  const call = await callOf(ctx, { namespaceSlug, databasePath, slug });
  if (call === null) return null;
  const account = await accountByEmail(ctx, call, email);
  if (account === null || await isVerified(ctx, call, account)) return null;
  const limit = { perDay: ctx.mailPerDay };
  const subject = { databaseId: namespaceId, slug: "mail", client: "" };
  const { admitted } = await checkRate(ctx.rateCounters, subject, { limit, nowMs: () => ctx.clock.now() });
  if (!admitted) throw new AppError("rate_limited");
  const made = await makeLink(ctx, call, account);
  if (made === null || account.email === null) return null;
  const filled = (text: string) => fill(text, { link: made.link, email: account.email ?? "" });
  const { subject: title, text } = templateOf(call.record.spec);
  return { to: account.email, subject: filled(title), text: filled(text) };
}

/** The endpoint as it is now; null where it is not published any more, or of another kind. */
async function callOf(
  ctx: PublishedContext,
  path: { readonly namespaceSlug: string; readonly databasePath: string; readonly slug: string },
): Promise<EndpointCall | null> {
  try {
    const { record, target } = await resolveEndpoint(ctx, path);
    const isOurs = record.spec.kind === "auth_reset" || record.spec.kind === "auth_verify";
    return isOurs && record.status === "published" ? ownCall(record, target) : null;
  } catch (error) {
    if (failedWith(error, "endpoint_not_found")) return null;
    throw error;
  }
}

/** A call that the service or the owner makes, not a user of the app. */
export function ownCall(record: EndpointCall["record"], target: EndpointCall["target"]): EndpointCall {
  return {
    record,
    target,
    session: null,
    tokenId: `endpoint:${record.spec.slug}`,
    replay: null,
    rowForm: PLAIN_ROWS,
    client: "",
    signal: () => null,
  };
}

const templates = {
  reset: {
    subject: "Set a new password",
    text:
      "Somebody has asked to set a new password for {{email}}.\n\nOpen this link within 30 minutes:\n{{link}}\n\n" +
      "If it was not you, do nothing: the password stays as it is.\n",
  },
  verify: {
    subject: "Confirm your address",
    text: "Open this link within 24 hours to confirm that {{email}} is your address:\n{{link}}\n\n" +
      "If you do not know what this is about, do nothing.\n",
  },
} as const;

function templateOf(spec: EndpointSpec): { readonly subject: string; readonly text: string } {
  return spec.authConfig?.mail ?? templates[purposeOf(spec)];
}

/** What is filled in is not read again. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole);
}
