// What must not come back with a restored control plane: whatever was used, ended or replaced since the backup would count a
// second time. It is taken out before the file gets its name, so that no process ever sees it.
import { Approvals } from "../../control/approvals.ts";
import { type Clock, DAY_MS } from "../../core/clock.ts";
import type { Key } from "../../store/key.ts";
import { keys, kindOf } from "../../store/keys.ts";
import { kvCommit, kvEntries } from "../../store/kv_call.ts";
import { withLifetimes } from "../../store/lifetimes.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import { removeAll } from "../../store/remove_all.ts";

/** How many of each kind were ended. */
export type Voided = Readonly<Record<string, number>>;

/** What is asked for. */
export interface VoidOptions {
  readonly clock: Clock;
  /** Ends API tokens too: those that were revoked since the backup count again otherwise. */
  readonly revokeTokens: boolean;
  /** Switches webhooks off: for a try beside the service that goes on, whose receivers would be called twice. */
  readonly rehearsal: boolean;
}

/** What was said to whoever asks why an approval was denied. */
const REASON =
  "The control plane was restored from a backup; look in the query log whether this write has run, and ask again";
/** Milliseconds that nothing is dropped for which a deadline of the backup has passed: it may have been put off since. */
const GRACE_MS = 7 * DAY_MS;
const SECRET_BYTES = 32;

/** Records that count once or end by being removed, by the name under which they are told. */
const single: Readonly<Record<string, readonly Key<unknown>[]>> = {
  proposals: [keys.execution("")],
  handoffs: [keys.handoff("")],
  "links of invitations": [keys.link(""), keys.invitationOf("")],
  "links of accounts": [keys.accountToken("")],
  mails: [keys.mailJob("")],
  sessions: [keys.consoleSession(""), keys.sessionOf("", "")],
  "grants of clients": [keys.oauthCode(""), keys.oauthRefresh("")],
  tickets: [keys.changeTicket("")],
  // They stand for processes that have ended.
  leases: [keys.webhookLease("")],
};
const tokens: readonly Key<unknown>[] = [
  keys.token("", ""),
  keys.tokenByHash(""),
  keys.childToken("", "", ""),
  keys.tokenUse("", ""),
];

/** Ends it all in a KV that nobody else has open. It can be repeated. Errors: `meter_unreachable`, `storage_full`. */
export async function voidRevived(
  opened: Deno.Kv,
  { clock, revokeTokens, rehearsal }: VoidOptions,
): Promise<Voided> {
  const kv = withLifetimes(opened, clock);
  const voided: Record<string, number> = {};
  voided["approvals"] = await endApprovals(kv, clock);
  for (const [name, [first, ...beside]] of Object.entries(single)) {
    if (first) voided[name] = await removeAll(kv, kindOf(first));
    for (const key of beside) await removeAll(kv, kindOf(key));
  }
  await endSessionsOfUsers(kv);
  await keepStorage(kv, clock.now());
  // Answered challenges of passkeys and captchas, batons and states of agents are signed by it.
  await kvCommit(kv.atomic().set(keys.hashSecret(), crypto.getRandomValues(new Uint8Array(SECRET_BYTES))));
  if (revokeTokens) {
    const [first, ...beside] = tokens;
    if (first) voided["tokens"] = await removeAll(kv, kindOf(first));
    for (const key of beside) await removeAll(kv, kindOf(key));
  }
  if (rehearsal) voided["webhooks"] = await switchWebhooksOff(kv);
  return voided;
}

async function switchWebhooksOff(kv: Deno.Kv): Promise<number> {
  let count = 0;
  for await (const entry of kvEntries(kv, kindOf(keys.webhook("", "")))) {
    if (!entry.value.enabled) continue;
    await kvCommit(kv.atomic().check(entry).set(entry.key, { ...entry.value, enabled: false }));
    count++;
  }
  return count;
}

/** Those that wait or are approved; what they held stays to be read until it expires. */
async function endApprovals(kv: Deno.Kv, clock: Clock): Promise<number> {
  const approvals = new Approvals(kv, clock);
  let ended = 0;
  for await (const { value } of kvEntries(kv, kindOf(keys.approval("", "")))) {
    const state = approvals.stateOf(value);
    if (state !== "pending" && state !== "approved") continue;
    await approvals.move(value, state, { state: "denied", decidedAt: clock.now(), reason: REASON });
    ended++;
  }
  return ended;
}

/** Without its key a session of a database's user is no session; the next one makes another. */
async function endSessionsOfUsers(kv: Deno.Kv): Promise<void> {
  for await (const entry of kvEntries(kv, kindOf(keys.database("", "")))) {
    await kvCommit(kv.atomic().check(entry).set(entry.key, withoutKey(entry.value)));
  }
}

function withoutKey({ sessionSigningKeyB64: _, ...record }: DatabaseRecord): DatabaseRecord {
  return record;
}

/**
 * Whatever was being made, deleted or about to end when the backup was taken may have been kept since: no storage is dropped
 * for what the backup says of it.
 */
async function keepStorage(kv: Deno.Kv, nowMs: number): Promise<void> {
  for await (const entry of kvEntries(kv, keys.leftovers())) {
    if (entry.value.kind === "database") await kvCommit(kv.atomic().check(entry).delete(entry.key));
  }
  for await (const entry of kvEntries(kv, keys.deletedDatabases())) {
    const untilMs = Math.max(entry.value.untilMs, nowMs + GRACE_MS);
    const next = { ...entry.value, untilMs, database: withoutKey(entry.value.database) };
    await kvCommit(kv.atomic().check(entry).set(entry.key, next));
  }
  for await (const entry of kvEntries(kv, keys.branches())) {
    const expiresAt = Math.max(entry.value.expiresAt, nowMs + GRACE_MS);
    await kvCommit(kv.atomic().check(entry).set(entry.key, { ...entry.value, expiresAt }));
  }
}
