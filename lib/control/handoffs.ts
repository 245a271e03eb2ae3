// Handoff tokens: each is exchanged once for an API token. Its record says whether it is still valid; the lifetime of
// its key only cleans up.
import { type Clock, DAY_MS } from "../core/clock.ts";
import { madeLimits } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { HandoffRecord, TokenRecord } from "../store/records.ts";
import { MAX_LINEAGE, tokenKeys, tokenLineage } from "./token_records.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";

/** What became of a handoff. */
export type MintOutcome =
  | { readonly ok: true; readonly untilMs: number }
  | { readonly ok: false; readonly reason: "token_gone" | "too_deep" }
  /** `untilMs`: when the next day begins. */
  | { readonly ok: false; readonly reason: "too_many"; readonly untilMs: number };

/** What a redeemed handoff gives. */
export interface Redeemed {
  readonly token: TokenRecord;
  readonly namespaceSlug: string;
}

/** Every method's errors: `meter_unreachable`. Hashes are SHA-256, hex. */
export class Handoffs {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** `untilMs` is the wanted end, or the minting token's expiry if that comes first. */
  async add(hash: string, record: HandoffRecord): Promise<MintOutcome> {
    const { namespaceId, parentId } = record;
    return await untilCommitted(async () => {
      const nowMs = this.clock.now();
      const line = await tokenLineage(this.kv, { namespaceId, tokenId: parentId, nowMs });
      const [minter, eldest] = [line?.tokens[0], line?.tokens.at(-1)];
      if (line === null || !minter || !eldest) return { ok: false, reason: "token_gone" };
      if (line.tokens.length === MAX_LINEAGE) return { ok: false, reason: "too_deep" };
      const day = Math.floor(nowMs / DAY_MS);
      const minted = await kvGet(this.kv, keys.handoffsMinted(namespaceId, eldest.value.id, day));
      const before = minted.value ?? 0;
      if (before >= madeLimits.inDay) return { ok: false, reason: "too_many", untilMs: (day + 1) * DAY_MS };
      const untilMs = Math.min(record.untilMs, minter.value.expiresAt ?? Infinity);
      const addition = this.kv.atomic().check(minted).set(minted.key, before + 1, { expireIn: 2 * DAY_MS })
        .set(keys.handoff(hash), { ...record, untilMs }, { expireIn: untilMs - nowMs });
      return await kvCommit(addition) ? { ok: true, untilMs } : FASTER;
    });
  }

  /** Reads a handoff without consuming it. Null when it is unknown, used or expired. */
  async find(hash: string): Promise<HandoffRecord | null> {
    const { value } = await kvGet(this.kv, keys.handoff(hash));
    return value === null || value.untilMs <= this.clock.now() ? null : value;
  }

  /**
   * Consumes the handoff and adds the token that `make` builds, in one commit. One of several callers wins; the
   * others get null, as does a caller who comes too late or after the minting token. `make` may run several times.
   */
  async redeem(
    hash: string,
    make: (handoff: HandoffRecord, parent: TokenRecord) => TokenRecord,
  ): Promise<Redeemed | null> {
    return await untilCommitted(async () => {
      const nowMs = this.clock.now();
      const handoff = await kvGet(this.kv, keys.handoff(hash));
      if (handoff.versionstamp === null || handoff.value.untilMs <= nowMs) return null;
      const { namespaceId, parentId } = handoff.value;
      const [namespace, line] = await Promise.all([
        kvGet(this.kv, keys.namespace(namespaceId)),
        tokenLineage(this.kv, { namespaceId, tokenId: parentId, nowMs }),
      ]);
      const parent = line?.tokens[0];
      if (namespace.versionstamp === null || line === null || parent === undefined) return null;
      const token = make(handoff.value, parent.value);
      const exchange = this.kv.atomic().check(handoff, namespace, ...line.checks).delete(handoff.key);
      return await kvCommit(tokenKeys.set(exchange, token, nowMs))
        ? { token, namespaceSlug: namespace.value.slug }
        : FASTER;
    });
  }
}
