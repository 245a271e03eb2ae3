// A database with changes that are not in the store: since when, and who works on it.
import { MINUTE_MS } from "../../core/clock.ts";
import type { DatabaseArchive } from "./database_archive.ts";

/** Milliseconds after which a change is sent, and after which its archive is late. */
const SEND_MS = 10_000;
const LATE_MS = 15 * MINUTE_MS;

/** Such a database. Times are those of a monotonic clock. */
export interface Changed {
  readonly databaseId: string;
  readonly archive: DatabaseArchive;
  /** When it was served last, or has changed; and everything that was answered before is in the store. */
  sinceMs: number;
  unsentMs: number;
  isToldLate: boolean;
  /** Has changed since it was last served, and since it was last looked at. */
  again: boolean;
  touched: boolean;
  last: Promise<void>;
  /** Turns that wait or run. */
  turns: number;
  /** Those among them whose caller holds the database until its file has been read for the last time. */
  replacing: number;
}

/** One that has changed just now. */
export function newlyChanged(databaseId: string, archive: DatabaseArchive, nowMs: number): Changed {
  return {
    databaseId,
    archive,
    sinceMs: nowMs,
    unsentMs: nowMs,
    isToldLate: false,
    again: true,
    touched: true,
    last: Promise.resolve(),
    turns: 0,
    replacing: 0,
  };
}

/** Whether it is to be served, however little has changed. */
export function isDue({ sinceMs }: Changed, nowMs: number): boolean {
  return nowMs - sinceMs >= SEND_MS;
}

/** Whether its archive is late, and nobody was told yet. */
export function isLate({ isToldLate, unsentMs }: Changed, nowMs: number): boolean {
  return !isToldLate && nowMs - unsentMs >= LATE_MS;
}

/** Does the work behind all that is under way with the database's archive. */
export function inTurn(changed: Changed, work: () => Promise<void>): Promise<void> {
  changed.turns++;
  const done = changed.last.then(work).finally(() => changed.turns--);
  changed.last = done.catch(() => {});
  return done;
}

/** Notes that it was served at that time: what was answered before is in the store, unless the sending was cut short. */
export function noteServed(changed: Changed, nowMs: number): void {
  changed.sinceMs = nowMs;
  if (changed.replacing > 0) return;
  changed.unsentMs = nowMs;
  changed.isToldLate = false;
}
