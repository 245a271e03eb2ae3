// Sessions of people in the console: found by the hash of the cookie at every request, ended by their owner, by a change
// of the member, or by time. Which of them count is decided here, by one look at the record and its owner's.
import { hash } from "node:crypto";
import { type Clock, HOUR_MS, isOfClockPutBack, MINUTE_MS } from "../core/clock.ts";
import { MAX_SESSIONS } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet } from "../store/kv_call.ts";
import type { ConsoleSessionRecord, MemberRecord, SessionOwner } from "../store/people_records.ts";
import { type Also, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";
import type { Namespaces } from "./namespaces.ts";
import { RecordCache } from "./record_cache.ts";

/** Milliseconds after its last use at which a session ends. */
const IDLE_MS = 12 * HOUR_MS;
/** Milliseconds after which a use is written down again: a session in use costs one write in so long. */
const TOUCH_MS = 5 * MINUTE_MS;

/** A session that counts, with its owner as they are now. */
export interface LiveSession {
  readonly session: ConsoleSessionRecord;
  /** Null for the operator. */
  readonly member: { readonly record: MemberRecord; readonly namespaceSlug: string } | null;
}

/** What a sign-in says about its session. */
export type NewSession = Omit<ConsoleSessionRecord, "epoch" | "usedAt">;

/** Every method's errors: `meter_unreachable`. Hashes are SHA-256, hex. */
export class ConsoleSessions {
  readonly #cache: RecordCache<LiveSession>;

  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly namespaces: Namespaces,
  ) {
    this.#cache = new RecordCache(clock);
  }

  /**
   * Adds a session, in the same commit in which `replaced` (a session of the same browser) ends. Beyond `MAX_SESSIONS`
   * of a member the oldest end. False when the member is gone, or is not any more as it was when it proved who it is
   * (`provedEpoch`). `also`: what is to happen with it, or not at all.
   */
  async add(
    sessionHash: string,
    session: NewSession,
    { operatorKeyHash, replaced, provedEpoch, also = nothingElse }: {
      readonly operatorKeyHash: string;
      readonly replaced: string | null;
      readonly provedEpoch: number | null;
      readonly also?: Also<[sessionId: string]>;
    },
  ): Promise<boolean> {
    const { owner, createdAt: usedAt } = session;
    const expireIn = expiryMs({ ...session, usedAt }, usedAt);
    try {
      const added = await untilCommitted(async () => {
        const member = owner.kind === "member"
          ? await kvGet(this.kv, keys.member(owner.namespaceId, owner.memberId))
          : null;
        if (member !== null && (member.value === null || member.value.epoch !== provedEpoch)) return false;
        const before = replaced === null ? null : await kvGet(this.kv, keys.consoleSession(replaced));
        const epoch = epochOf(member?.value ?? null, operatorKeyHash);
        const commit = this.kv.atomic()
          .set(keys.consoleSession(sessionHash), { ...session, epoch, usedAt }, { expireIn })
          .set(keys.sessionOf(ownerId(owner), session.id), sessionHash, { expireIn });
        // A change of the member that comes first ends this session too: it is made again, or not at all.
        if (member) commit.check(member);
        if (before !== null && before.value !== null) {
          commit.delete(before.key).delete(keys.sessionOf(ownerId(before.value.owner), before.value.id));
        }
        return await kvCommit(also(commit, session.id)) ? true : FASTER;
      });
      if (added && owner.kind === "member") await this.#endOldest(owner, session.id);
      return added;
    } finally {
      if (replaced !== null) this.#cache.forget(replaced);
    }
  }

  /** Ids sort by the time of the sign-in. */
  async #endOldest(owner: SessionOwner, newest: string): Promise<void> {
    const pointers = await Array.fromAsync(kvEntries(this.kv, keys.sessionsOf(ownerId(owner))));
    const others = pointers.map(({ key }) => String(key.at(-1))).filter((id) => id !== newest);
    const ending = others.slice(0, Math.max(0, others.length + 1 - MAX_SESSIONS));
    for (const id of ending) await this.end(owner, id);
  }

  /**
   * The session that counts, or null. At most `CACHE_AGE_MS` old, unless `now` wants it as it is at this moment.
   */
  async find(
    sessionHash: string,
    { operatorKeyHash, now }: { readonly operatorKeyHash: string; readonly now: boolean },
  ): Promise<LiveSession | null> {
    if (now) this.#cache.forget(sessionHash);
    const found = await this.#cache.read(sessionHash, () => this.#load(sessionHash, operatorKeyHash));
    // A cached one may have ended by time meanwhile.
    return found !== null && expiryMs(found.session, this.clock.now()) > 0 ? found : null;
  }

  /** Notes that the owner has proved again who it is. Null when the session is gone. */
  async confirm(owner: SessionOwner, sessionId: string): Promise<ConsoleSessionRecord | null> {
    const { value: sessionHash } = await kvGet(this.kv, keys.sessionOf(ownerId(owner), sessionId));
    if (sessionHash === null) return null;
    try {
      return await this.#change(sessionHash, (session, nowMs) => ({
        ...session,
        usedAt: nowMs,
        signedInAt: nowMs,
      }));
    } finally {
      this.#cache.forget(sessionHash);
    }
  }

  /** The sessions of an owner, as they are stored: some may have ended. The oldest first. */
  async list(owner: SessionOwner): Promise<ConsoleSessionRecord[]> {
    const found: ConsoleSessionRecord[] = [];
    for await (const { value: sessionHash } of kvEntries(this.kv, keys.sessionsOf(ownerId(owner)))) {
      const { value } = await kvGet(this.kv, keys.consoleSession(sessionHash));
      if (value !== null && expiryMs(value, this.clock.now()) > 0) found.push(value);
    }
    return found;
  }

  /** Ends one session of an owner by its id; false when there is none. */
  async end(owner: SessionOwner, sessionId: string): Promise<boolean> {
    const key = keys.sessionOf(ownerId(owner), sessionId);
    const { value: sessionHash } = await kvGet(this.kv, key);
    if (sessionHash === null) return false;
    try {
      await kvCommit(this.kv.atomic().delete(key).delete(keys.consoleSession(sessionHash)));
    } finally {
      this.#cache.forget(sessionHash);
    }
    return true;
  }

  /** Deletes the sessions of an owner that are not to be kept. */
  async endAll(
    owner: SessionOwner,
    isKept: (session: ConsoleSessionRecord) => boolean = () => false,
  ): Promise<void> {
    this.forgetAll();
    for await (const { key, value: sessionHash } of kvEntries(this.kv, keys.sessionsOf(ownerId(owner)))) {
      const session = keys.consoleSession(sessionHash);
      const { value } = await kvGet(this.kv, session);
      if (value === null || !isKept(value)) await kvCommit(this.kv.atomic().delete(key).delete(session));
    }
    this.forgetAll();
  }

  /** Deletes what is left of a member's sessions that its present record has ended already. */
  endFormer({ namespaceId, id: memberId, epoch }: MemberRecord): Promise<void> {
    return this.endAll(
      { kind: "member", namespaceId, memberId },
      (session) => session.epoch === String(epoch),
    );
  }

  /** Empties the cache: to be called when a member has changed. */
  forgetAll(): void {
    this.#cache.clear();
  }

  async #load(sessionHash: string, operatorKeyHash: string): Promise<LiveSession | null> {
    const { value: session } = await kvGet(this.kv, keys.consoleSession(sessionHash));
    const nowMs = this.clock.now();
    if (session === null || expiryMs(session, nowMs) <= 0) return null;
    const member = await this.#memberOf(session.owner);
    if (session.owner.kind === "member" && member === null) return null;
    if (session.epoch !== epochOf(member?.record ?? null, operatorKeyHash)) return null;
    if (Math.abs(nowMs - session.usedAt) < TOUCH_MS) return { session, member };
    const touched = await this.#change(sessionHash, (current, now) => ({ ...current, usedAt: now }));
    return touched === null ? null : { session: touched, member };
  }

  async #memberOf(owner: SessionOwner): Promise<LiveSession["member"]> {
    if (owner.kind === "operator") return null;
    const [{ value: record }, namespace] = await Promise.all([
      kvGet(this.kv, keys.member(owner.namespaceId, owner.memberId)),
      this.namespaces.byId(owner.namespaceId),
    ]);
    return record === null || namespace === null ? null : { record, namespaceSlug: namespace.slug };
  }

  /** With a check: a session that has been ended meanwhile does not come back. */
  async #change(
    sessionHash: string,
    change: (session: ConsoleSessionRecord, nowMs: number) => ConsoleSessionRecord,
  ): Promise<ConsoleSessionRecord | null> {
    return await untilCommitted(async () => {
      const entry = await kvGet(this.kv, keys.consoleSession(sessionHash));
      if (entry.versionstamp === null) return null;
      const nowMs = this.clock.now();
      const next = change(entry.value, nowMs);
      const expireIn = Math.max(1, expiryMs(next, nowMs));
      const commit = this.kv.atomic().check(entry).set(entry.key, next, { expireIn })
        .set(keys.sessionOf(ownerId(next.owner), next.id), sessionHash, { expireIn });
      return await kvCommit(commit) ? next : FASTER;
    });
  }
}

/** Milliseconds that a session has left; none or less: it has ended. */
function expiryMs(
  { createdAt, usedAt, untilMs }: Pick<ConsoleSessionRecord, "createdAt" | "usedAt" | "untilMs">,
  nowMs: number,
): number {
  // It would last longer by as much as that clock was ahead.
  if (isOfClockPutBack(createdAt, nowMs)) return 0;
  return Math.min(usedAt + IDLE_MS, untilMs) - nowMs;
}

function ownerId(owner: SessionOwner): string {
  return owner.kind === "operator" ? "operator" : owner.memberId;
}

/** Another operator key ends the sessions of the one before. */
function epochOf(member: MemberRecord | null, operatorKeyHash: string): string {
  return member === null
    ? hash("sha256", `operator session ${operatorKeyHash}`, "hex")
    : String(member.epoch);
}
