// Which sessions of an end user have ended before their time: single ones by their id, and all of a moment at once.
import { hash } from "node:crypto";
import type { Clock } from "../core/clock.ts";
import { CACHE_AGE_MS, MAX_SESSION_SEC } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { SessionEndsRecord } from "../store/account_records.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";
import { RecordCache } from "./record_cache.ts";

/** Whose sessions. A user is a key of a table; an empty table stands for sessions of `POST /v1/sessions`. */
export interface SessionOwner {
  readonly databaseId: string;
  readonly table: string;
  readonly userId: string;
}

/** What tells the sessions of a user apart. */
export interface SessionStand {
  /** The same in everything that a session was refreshed to. */
  readonly sessionId: string;
  /** The last end of all sessions before it was made, unix milliseconds; 0 where there was none. */
  readonly epochMs: number;
}

/** Users whose ends are cached. */
const CACHE = { maxAgeMs: CACHE_AGE_MS, maxEntries: 20_000 } as const;
/** Single ends of one user that are kept. The next one ends all sessions of the user. */
const MAX_ENDED = 200;
const NONE: SessionEndsRecord = { epochMs: 0, ended: [] };

/** Every method's errors: `meter_unreachable`. */
export class SessionEnds {
  readonly #cache: RecordCache<SessionEndsRecord>;

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {
    this.#cache = new RecordCache(clock, CACHE);
  }

  /** An end counts at once in the process that made it, in others within `CACHE_AGE_MS`. */
  hasEnded(owner: SessionOwner, stand: SessionStand): boolean | Promise<boolean> {
    const read = this.#cache.read(nameOf(owner), () => this.#read(owner));
    return read instanceof Promise ? read.then((record) => isOver(record, stand)) : isOver(read, stand);
  }

  /** For a new session: as it is now. */
  async epochMs(owner: SessionOwner): Promise<number> {
    return (await this.#read(owner)).epochMs;
  }

  /** Ends one session, which none of its tokens outlives. `untilMs`: when the last of them has expired anyway. */
  async end(
    owner: SessionOwner,
    { sessionId, untilMs }: { sessionId: string; untilMs: number },
  ): Promise<void> {
    await this.#change(owner, ({ epochMs, ended }, nowMs) => {
      const live = ended.filter((one) => one.untilMs > nowMs && one.sessionId !== sessionId);
      if (live.length >= MAX_ENDED) return { epochMs: nextEpoch(epochMs, nowMs), ended: [] };
      return { epochMs, ended: [...live, { sessionId, untilMs }] };
    });
  }

  /** Ends every session that the user has now. */
  async endAll(owner: SessionOwner): Promise<void> {
    await this.#change(owner, ({ epochMs }, nowMs) => ({ epochMs: nextEpoch(epochMs, nowMs), ended: [] }));
  }

  async #read(owner: SessionOwner): Promise<SessionEndsRecord> {
    return (await kvGet(this.kv, keyOf(owner))).value ?? NONE;
  }

  async #change(
    owner: SessionOwner,
    change: (record: SessionEndsRecord, nowMs: number) => SessionEndsRecord,
  ): Promise<void> {
    try {
      await untilCommitted(async () => {
        const entry = await kvGet(this.kv, keyOf(owner));
        const next = change(entry.value ?? NONE, this.clock.now());
        const commit = this.kv.atomic().check(entry)
          .set(entry.key, next, { expireIn: (MAX_SESSION_SEC + 60) * 1000 });
        return await kvCommit(commit) ? undefined : FASTER;
      });
    } finally {
      this.#cache.forget(nameOf(owner));
    }
  }
}

/** A session names the last end of all that it came after: no two clocks have to agree, and no second is shared. */
function isOver(record: SessionEndsRecord | null, { sessionId, epochMs }: SessionStand): boolean {
  if (record === null) return false;
  return epochMs < record.epochMs || record.ended.some((one) => one.sessionId === sessionId);
}

function nextEpoch(epochMs: number, nowMs: number): number {
  return Math.max(epochMs + 1, nowMs);
}

function nameOf({ databaseId, table, userId }: SessionOwner): string {
  return JSON.stringify([databaseId, table, userId]);
}

function keyOf({ databaseId, table, userId }: SessionOwner) {
  return keys.sessionEnds(databaseId, hash("sha256", JSON.stringify([table, userId]), "hex"));
}
