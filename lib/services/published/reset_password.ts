// Kind `auth_reset`: with an address it asks for a mail with a link, with the link's token it sets a new password.
import { invalidInput } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { DONE } from "../endpoints/spec/outputs.ts";
import { accountOfLink, findLink, useLink } from "./account_link.ts";
import { askForMail } from "./account_mail.ts";
import { endSessions, requireNewPassword } from "./change_password.ts";
import { setPassword } from "./find_account.ts";
import { accountsOf, guessOf } from "./guess_password.ts";
import { inputIndex, textIn } from "./input_values.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";

/**
 * A new password ends the sessions of the account and opens it, where guesses have locked it. Errors:
 * `validation_failed`, `link_invalid`, `hashing_busy`, those of `askForMail` and of the pipeline.
 */
export async function resetPassword(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  const { spec } = call.record;
  if (asksForMail(call, bound, ["token", "password"])) {
    await askForMail(ctx, call, textIn(spec, bound, "email"));
    return { body: DONE, userId: null, meta: null };
  }
  const password = requireNewPassword(textIn(spec, bound, "password"), "password");
  const link = await findLink(ctx, call, textIn(spec, bound, "token"));
  const account = await accountOfLink(ctx, call, link);
  const hash = await ctx.passwords.hash(call.target.namespaceId, password);
  const meta = await useLink(ctx, link, () => setPassword(ctx, call, { account, hash }));
  const userId = String(account.key);
  await endSessions(ctx, call, userId);
  const guess = await guessOf(ctx, call, link.value.email);
  const accounts = await accountsOf(ctx, call.record, { spelled: guess.spelled, account });
  await ctx.guesses.unlock(call.record.databaseId, accounts);
  // Whoever guesses on cannot slow down the user who has just come back.
  await ctx.guesses.remember(guess);
  return { body: DONE, userId, meta };
}

/** Whether the input is an address alone; otherwise it is what comes with a link. Errors: `validation_failed`. */
export function asksForMail(
  { record: { spec } }: EndpointCall,
  bound: readonly SqlParameter[],
  withLink: readonly string[],
): boolean {
  const isSent = (name: string) => (bound[inputIndex(spec, name)] ?? null) !== null;
  const isAsking = isSent("email");
  if (isAsking ? !withLink.some(isSent) : withLink.every(isSent)) return isAsking;
  const message = `Send email alone to get a link, or ${withLink.join(" and ")} to use one`;
  throw invalidInput(
    isAsking ? withLink.find(isSent) ?? "" : withLink.find((name) => !isSent(name)) ?? "",
    message,
  );
}
