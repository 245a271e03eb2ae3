// What signs and ends the sessions of a database's end users: its signing key, made on first use, and the two things that
// end all sessions at once, the floor under `iat` and the generation. They are fields of the database's record, and only
// this file reads and writes them.
import type { Clock } from "../core/clock.ts";
import { type Also, compareAndSet, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { DatabaseRecord } from "../store/records.ts";
import { RecordCache } from "./record_cache.ts";
import { pause } from "../core/pause.ts";

/** A database or a branch, by its ids. */
export interface SessionDatabase {
  readonly namespaceId: string;
  readonly databaseId: string;
}

/** What verifies and dates sessions. */
export interface SessionKey {
  readonly secret: Uint8Array<ArrayBuffer>;
  /** Sessions issued before this unix second are refused. */
  readonly minIat: number;
  /** So are those of an earlier generation, whatever clock has dated them. */
  readonly generation: number;
}

/** Bytes of the key: as many as the hash of HS256 (RFC 7518, section 3.2). */
const SECRET_BYTES = 32;

/** Every method's errors: `meter_unreachable`. */
export class SessionKeys {
  readonly #cache: RecordCache<SessionKey>;

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {
    this.#cache = new RecordCache(clock);
  }

  /** For verifying: at most `CACHE_AGE_MS` old. Null while nothing was signed, or when the database is gone. */
  current(database: SessionDatabase): SessionKey | null | Promise<SessionKey | null> {
    return this.#cache.read(database.databaseId, async () => {
      const { value } = await this.#record(database);
      return value === null ? null : sessionKey(value);
    });
  }

  /**
   * For signing: as it is now, because a floor that another process has just raised counts for the next session. It
   * makes the key where there is none; one of several makers wins. Null when the database is gone.
   */
  async demand(database: SessionDatabase): Promise<SessionKey | null> {
    return await untilCommitted(async () => {
      const entry = await this.#record(database);
      if (entry.versionstamp === null) return null;
      const existing = sessionKey(entry.value);
      if (existing !== null) return existing;
      const sessionSigningKeyB64 = crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64();
      const record = { ...entry.value, sessionSigningKeyB64 };
      return await kvCommit(this.kv.atomic().check(entry).set(entry.key, record))
        ? sessionKey(record)
        : FASTER;
    });
  }

  /**
   * Ends every session of a database (never of a branch alone) and answers the new floor; null when the database is
   * gone. It takes effect in this process at once, in others within `CACHE_AGE_MS`. `iat` has whole seconds, so
   * sessions of one second cannot be told apart: the floor is the next second, and sessions of this second wait for
   * it (`issueSec`). Repeated calls move the floor no further. Sessions that another process has dated by a clock ahead
   * of this one are over the floor, but of an earlier generation. `also`: what is to happen with it, or not at all.
   */
  async revokeAll(database: SessionDatabase, also: Also = nothingElse): Promise<number | null> {
    try {
      const changed = await compareAndSet(this.kv, {
        key: keys.database(database.namespaceId, database.databaseId),
        change: (record) => ({
          ...record,
          tokensMinIat: this.#nextFloor(record.tokensMinIat ?? 0),
          sessionGeneration: (record.sessionGeneration ?? 0) + 1,
        }),
        beside: also,
      });
      return changed?.tokensMinIat ?? null;
    } finally {
      // Branches are cached under ids of their own.
      this.#cache.clear();
    }
  }

  /**
   * The `iat` of a session issued now, in unix seconds: at least the floor `minIat`, for which it waits up to a
   * second. A longer wait would mean a wrong clock; then the session is dated ahead.
   */
  async issueSec(minIat: number): Promise<number> {
    const aheadMs = minIat * 1000 - this.clock.now();
    if (aheadMs > 0) await pause(Math.min(aheadMs, 1000));
    return Math.max(Math.floor(this.clock.now() / 1000), minIat);
  }

  /** Above a floor that a fast clock has set, because sessions may be dated by it. */
  #nextFloor(floor: number): number {
    const next = Math.floor(this.clock.now() / 1000) + 1;
    return floor > next ? floor + 1 : next;
  }

  /** A branch has the key and the floor of its trunk; `aud` distinguishes their sessions. */
  async #record({ namespaceId, databaseId }: SessionDatabase): Promise<Deno.KvEntryMaybe<DatabaseRecord>> {
    const entry = await kvGet(this.kv, keys.database(namespaceId, databaseId));
    if (entry.versionstamp !== null) return entry;
    const branch = await kvGet(this.kv, keys.branchById(namespaceId, databaseId));
    if (branch.versionstamp === null) return entry;
    return await kvGet(this.kv, keys.database(namespaceId, branch.value.trunkId));
  }
}

function sessionKey(record: DatabaseRecord): SessionKey | null {
  const { sessionSigningKeyB64, tokensMinIat = 0, sessionGeneration = 0 } = record;
  if (sessionSigningKeyB64 === undefined) return null;
  const secret = Uint8Array.fromBase64(sessionSigningKeyB64);
  return { secret, minIat: tokensMinIat, generation: sessionGeneration };
}

/** Whether `revokeAll` has ended a session. It is newer than the key where another process has raised the generation since. */
export function isRevoked(
  { issuedSec, generation }: { readonly issuedSec: number; readonly generation: number },
  key: SessionKey,
): boolean {
  return issuedSec < key.minIat || generation < key.generation;
}
