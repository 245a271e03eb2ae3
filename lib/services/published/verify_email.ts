// Kind `auth_verify`: with an address it asks for a mail with a link, with the link's token the address is verified.
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { DONE } from "../endpoints/spec/outputs.ts";
import { accountOfLink, findLink, useLink } from "./account_link.ts";
import { askForMail } from "./account_mail.ts";
import { textIn } from "./input_values.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { asksForMail } from "./reset_password.ts";
import { setVerified } from "./verified_column.ts";

/** Errors: `validation_failed`, `link_invalid`, those of `askForMail` and of the pipeline. */
export async function verifyEmail(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  const { spec } = call.record;
  if (asksForMail(call, bound, ["token"])) {
    await askForMail(ctx, call, textIn(spec, bound, "email"));
    return { body: DONE, userId: null, meta: null };
  }
  const link = await findLink(ctx, call, textIn(spec, bound, "token"));
  const account = await accountOfLink(ctx, call, link);
  const meta = await useLink(ctx, link, () => setVerified(ctx, call, account));
  return { body: DONE, userId: String(account.key), meta };
}
