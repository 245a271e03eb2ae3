// Clients that have registered themselves. Those that somebody uses stay: see oauth_grants.ts.
import type { Clock } from "../core/clock.ts";
import { oauthLimits } from "../core/oauth_limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { OauthClientRecord } from "../store/oauth_records.ts";

/** Every method's errors: `meter_unreachable`. */
export class OauthClients {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** Adds a client with which nobody has connected yet. */
  async add(client: Omit<OauthClientRecord, "untilMs">): Promise<OauthClientRecord> {
    const expireIn = oauthLimits.unusedClientMs;
    const record = { ...client, untilMs: this.clock.now() + expireIn };
    await kvCommit(this.kv.atomic().set(keys.oauthClient(client.id), record, { expireIn }));
    return record;
  }

  /** Null for one that is unknown or has expired. */
  async find(clientId: string): Promise<OauthClientRecord | null> {
    const { value } = await kvGet(this.kv, keys.oauthClient(clientId));
    return value === null || value.untilMs <= this.clock.now() ? null : value;
  }
}
