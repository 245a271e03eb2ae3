// What the owner of an app does for its users: links for the owner's own mails, and accounts opened again.
import { requireFresh } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import { type DatabaseAddress, requireDatabase, trunkTarget } from "../databases/database_record.ts";
import { makeLink } from "../published/account_link.ts";
import { ownCall } from "../published/account_mail.ts";
import { type Account, accountByEmail } from "../published/find_account.ts";
import { accountsOf, spelledAccount } from "../published/guess_password.ts";
import { endpointRole } from "../published/public_address.ts";
import type { EndpointCall, PublishedContext } from "../published/published_context.ts";
import { type EndpointContext, requireEndpoint, withAccount } from "./endpoint_context.ts";

/** Which account, by an endpoint of its users table. */
export interface AccountInput {
  readonly address: DatabaseAddress;
  readonly slug: string;
  readonly email: string;
}

/** A link that counts once. */
export interface MadeLink {
  readonly link: string;
  readonly token: string;
  readonly email: string;
  readonly expiresAt: string;
}

type Context = EndpointContext & { readonly published: PublishedContext };

/**
 * Makes a link as the endpoint would mail it: whoever has it takes over the account. Errors: `sign_in_again`,
 * `endpoint_not_found`, for one of another kind too, `account_not_found`, those of `requireDatabase` and of the store.
 */
export async function linkFor(ctx: Context, input: AccountInput): Promise<MadeLink> {
  const database = await requireDatabase(ctx, input.address);
  requireFresh(ctx.caller, ctx.clock.now());
  const { call, account } = await findAccount(ctx, database, input, ["auth_reset", "auth_verify"]);
  const act = withAccount(ctx, "account.link_made", { database, slug: input.slug });
  const made = await makeLink(ctx.published, call, account, act);
  if (made === null || account.email === null) throw new AppError("account_not_found");
  return { link: made.link, token: made.token, email: account.email, expiresAt: isoTime(made.untilMs) };
}

/**
 * Forgets the failed log-ins of an account. Errors: `endpoint_not_found`, `account_not_found`, those of `requireDatabase` and
 * of the store.
 */
export async function unlockAccount(ctx: Context, input: AccountInput): Promise<void> {
  const database = await requireDatabase(ctx, input.address);
  const { call, account } = await findAccount(ctx, database, input, ["auth_login"]);
  const { email, slug } = input;
  const { published } = ctx;
  // As it was typed here, and as the table has it.
  const accounts = await Promise.all(
    [...new Set([email, account.email ?? email])].map(async (one) => {
      const spelled = await spelledAccount(published, call.record, one);
      return await accountsOf(published, call.record, { spelled, account });
    }),
  );
  const act = withAccount(ctx, "account.unlocked", { database, slug });
  await published.guesses.unlock(call.record.databaseId, [...new Set(accounts.flat())], act);
}

interface FoundAccount {
  readonly call: EndpointCall;
  readonly account: Account;
}

async function findAccount(
  ctx: Context,
  database: DatabaseRecord,
  { address, slug, email }: AccountInput,
  kinds: readonly EndpointSpec["kind"][],
): Promise<FoundAccount> {
  const record = await requireEndpoint(ctx, database, slug);
  if (!kinds.includes(record.spec.kind)) {
    const message = `Name an endpoint of kind ${kinds.join(" or ")}; this is ${record.spec.kind}`;
    throw new AppError("endpoint_not_found", { message });
  }
  const call = ownCall(record, trunkTarget(database, address.namespaceSlug, endpointRole(record)));
  const account = await accountByEmail(ctx.published, call, email);
  if (account === null) throw new AppError("account_not_found");
  return { call, account };
}
