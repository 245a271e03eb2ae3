// Tokens of the links by which the users of an app reset a password or verify an address: each counts once. Its record
// says whether it is still valid; the lifetime of its key only cleans up.
import type { Clock } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { AccountTokenRecord } from "../store/account_records.ts";
import type { Also } from "../store/until_committed.ts";

/** A token that is valid now. */
export type LiveAccountToken = Deno.KvEntry<AccountTokenRecord>;

/** Every method's errors: `meter_unreachable`. Hashes are SHA-256, hex. */
export class AccountTokens {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** `also`: what is to happen with it, or not at all. */
  async add(hash: string, record: AccountTokenRecord, also: Also): Promise<void> {
    const expireIn = Math.max(1, record.untilMs - this.clock.now());
    await kvCommit(also(this.kv.atomic().set(keys.accountToken(hash), record, { expireIn })));
  }

  /** Reads a token without using it up. Null when it is unknown, used or expired. */
  async find(hash: string): Promise<LiveAccountToken | null> {
    const entry = await kvGet(this.kv, keys.accountToken(hash));
    return entry.versionstamp === null || entry.value.untilMs <= this.clock.now() ? null : entry;
  }

  /** Uses a token up: of several callers one gets true. */
  async use(token: LiveAccountToken): Promise<boolean> {
    return await kvCommit(this.kv.atomic().check(token).delete(token.key));
  }

  /** Makes a used token valid again, for the caller who used it: what it was used for has not happened. */
  async giveBack({ key, value }: LiveAccountToken): Promise<void> {
    const expireIn = Math.max(1, value.untilMs - this.clock.now());
    await kvCommit(this.kv.atomic().set(key, value, { expireIn }));
  }
}
