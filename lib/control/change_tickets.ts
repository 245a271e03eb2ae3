// Tickets that open one stream of changes. The record says whether a ticket is still valid; the lifetime of its key only
// cleans up.
import type { Clock } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { ChangeTicketRecord } from "../store/changes_records.ts";

/** Every method's errors: `meter_unreachable`. Hashes are SHA-256, hex. */
export class ChangeTickets {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  async add(hash: string, record: ChangeTicketRecord): Promise<void> {
    const expireIn = record.untilMs - this.clock.now();
    await kvCommit(this.kv.atomic().set(keys.changeTicket(hash), record, { expireIn }));
  }

  /** Consumes a ticket: one of several callers gets it. Null when it is unknown, used or expired. */
  async take(hash: string): Promise<ChangeTicketRecord | null> {
    const ticket = await kvGet(this.kv, keys.changeTicket(hash));
    if (ticket.versionstamp === null || ticket.value.untilMs <= this.clock.now()) return null;
    const taken = await kvCommit(this.kv.atomic().check(ticket).delete(ticket.key));
    return taken ? ticket.value : null;
  }
}
