// Approvals of a database that are open: they wait for a decision, or to be redeemed. How many there are, and may be.
import type { Clock } from "../core/clock.ts";
import { isId } from "../core/ids.ts";
import { MAX_OPEN_APPROVALS, MAX_OPEN_APPROVALS_OF_TOKEN } from "../core/limits.ts";
import type { Key } from "../store/key.ts";
import { keys } from "../store/keys.ts";
import { kvEntries } from "../store/kv_call.ts";
import type { ApprovalRecord } from "../store/write_records.ts";
import { tokenLineage } from "./token_records.ts";

/** Of which database an approval is, and who asks for it. */
export type OpenPlace = Pick<ApprovalRecord, "namespaceId" | "databaseId" | "requestedBy" | "askedFor">;

/** How approvals are found and ended. */
interface Records {
  byId(namespaceId: string, approvalId: string): Promise<ApprovalRecord | null>;
  move(
    record: ApprovalRecord,
    from: ApprovalRecord["state"],
    change: Partial<ApprovalRecord>,
  ): Promise<ApprovalRecord | null>;
}

/** Those of all databases. Every method's errors: `meter_unreachable`. */
export class OpenApprovals {
  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly records: Records,
  ) {}

  /** For whom a token asks: whoever passed power on until it had some. Itself where that is not known any more. */
  async askerOf({ namespaceId, tokenId }: { namespaceId: string; tokenId: string }): Promise<string> {
    if (!isToken(tokenId)) return tokenId;
    const line = await tokenLineage(this.kv, { namespaceId, tokenId, nowMs: this.clock.now() });
    return line?.tokens.at(-1)?.value.id ?? tokenId;
  }

  /** Whether one more has no room: no token takes all of it, so that others of the database can ask too. */
  async areMany(
    { namespaceId, databaseId, requestedBy, askedFor = requestedBy }: OpenPlace,
  ): Promise<boolean> {
    if (isToken(askedFor)) {
      const own = await this.#idsUnder(keys.openApprovalsOf(databaseId, askedFor));
      if (own.length >= MAX_OPEN_APPROVALS_OF_TOKEN) return true;
    }
    const open = await this.#idsUnder(keys.openApprovals(databaseId));
    return open.length >= MAX_OPEN_APPROVALS &&
      open.length - await this.#endOrphans(namespaceId, open) >= MAX_OPEN_APPROVALS;
  }

  /** Notes in a commit what has become of an approval. */
  note(commit: Deno.AtomicOperation, record: ApprovalRecord): Deno.AtomicOperation {
    const { databaseId, id, state, requestedBy, askedFor = requestedBy, expiresAt } = record;
    const until = { expireIn: Math.max(1, expiresAt - this.clock.now()) };
    const indexes = [
      keys.openApproval(databaseId, id),
      ...(isToken(askedFor) ? [keys.openApprovalOf(databaseId, askedFor, id)] : []),
    ];
    for (const key of indexes) {
      if (state === "pending" || state === "approved") commit.set(key, expiresAt, until);
      else commit.delete(key);
    }
    return commit;
  }

  async #idsUnder(prefix: Key<number>): Promise<string[]> {
    const open: string[] = [];
    for await (const { key, value } of kvEntries(this.kv, prefix)) {
      if (value > this.clock.now()) open.push(String(key.at(-1)));
    }
    return open;
  }

  /**
   * Ends the approvals whose tokens count no more: nobody else could redeem them, and they would keep others from being held.
   * Returns how many. Each token is looked up once.
   */
  async #endOrphans(namespaceId: string, ids: readonly string[]): Promise<number> {
    const nowMs = this.clock.now();
    const found = await Promise.all(ids.map((id) => this.records.byId(namespaceId, id)));
    const byToken = Map.groupBy(found.filter((one) => one !== null), ({ requestedBy }) => requestedBy);
    let ended = 0;
    for (const [tokenId, own] of byToken) {
      if (!isToken(tokenId) || await tokenLineage(this.kv, { namespaceId, tokenId, nowMs })) continue;
      for (const one of own) if (await this.records.move(one, one.state, { expiresAt: nowMs })) ended++;
    }
    return ended;
  }
}

/** People and published endpoints ask, too: for many others, and where somebody watches. */
function isToken(requestedBy: string): boolean {
  return isId("tok", requestedBy);
}
