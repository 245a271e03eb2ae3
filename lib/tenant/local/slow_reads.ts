// What is known of the slow reads of one database: which texts of whose were slow a short while ago. They run only
// where a place for slow work is free, so that what comes after them does not wait.
import type { CallJob, Flight } from "./jobs.ts";

/** Milliseconds that a text counts as slow after it was seen to be. */
const KNOWN_MS = 10_000;
/** Texts remembered, and characters kept of one. */
const MAX_TEXTS = 256;
const TEXT_CHARACTERS = 1000;

/** Whose a call is; null: an anonymous caller's. */
export function tokenOf(job: CallJob): string | null {
  return job.call.log?.tokenId ?? null;
}

/** A read that is known to be slow begins with its place. */
export function placeOf(slow: SlowReads, work: Flight["work"]): Flight["place"] {
  const job = work.kind === "read" ? work.jobs[0] : undefined;
  return job && slow.knows(job) ? { tokenId: tokenOf(job) } : null;
}

export class SlowReads {
  /** Token → text → when it stops to count. */
  readonly #known = new Map<string | null, Map<string, number>>();
  #texts = 0;

  get none(): boolean {
    return this.#texts === 0;
  }

  note(job: CallJob, nowMs: number): void {
    this.#expire(nowMs);
    const token = tokenOf(job);
    const texts = this.#known.get(token) ?? new Map<string, number>();
    const text = textOf(job);
    if (!texts.has(text)) {
      if (this.#texts >= MAX_TEXTS) return;
      this.#texts++;
    }
    texts.set(text, nowMs + KNOWN_MS);
    this.#known.set(token, texts);
  }

  /** It has run quickly. */
  forget(job: CallJob): void {
    const token = tokenOf(job);
    const texts = this.#known.get(token);
    if (!texts?.delete(textOf(job))) return;
    this.#texts--;
    if (texts.size === 0) this.#known.delete(token);
  }

  /** Whether this text of this token was slow. */
  knows(job: CallJob): boolean {
    return this.#texts > 0 && this.#known.get(tokenOf(job))?.has(textOf(job)) === true;
  }

  /** Whether any read of this token was slow. */
  knowsToken(job: CallJob): boolean {
    return this.#known.has(tokenOf(job));
  }

  #expire(nowMs: number): void {
    for (const [token, texts] of this.#known) {
      for (const [text, untilMs] of texts) {
        if (untilMs <= nowMs && texts.delete(text)) this.#texts--;
      }
      if (texts.size === 0) this.#known.delete(token);
    }
  }
}

/** A batch counts as its first statement; of long texts the beginning and the length stand for all of it. */
function textOf({ call }: CallJob): string {
  const sql = call.statements[0]?.sql ?? "";
  return sql.length <= TEXT_CHARACTERS ? sql : `${sql.length} ${sql.slice(0, TEXT_CHARACTERS)}`;
}
