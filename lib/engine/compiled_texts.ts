// How much memory SQLite may hold for compiled statements that nobody uses any more, and when it is given back; those that
// are kept for later go where it has no more memory.
import type { DatabaseSync } from "node:sqlite";
import { type EngineFailure, isOutOfMemory, lackedMemory } from "./engine_failure.ts";

/** The fixed memory of a compiled statement, expressed in characters of text. */
const OVERHEAD = 200;
/** Characters compiled between two collections; each takes up to about 80 bytes of SQLite's memory (measured). */
const MAX_CHARACTERS = 1_000_000;

/** Characters that open connections have compiled since the last collection, of all and of each. */
let characters = 0;
let byDatabase = new WeakMap<DatabaseSync, number>();
/** What forgets the statements that an open connection keeps. */
const caches = new Map<DatabaseSync, () => void>();

/**
 * Call after compiling a tenant's text. `node:sqlite` frees a compiled statement only when its connection is closed or
 * JavaScript collects its garbage, and the collector does not see the memory inside SQLite: thousands of different texts in
 * a row would fill SQLite's memory limit, and every statement of this process would fail as out of memory. A call that
 * collects takes a few milliseconds, and 50 behind thousands of files that were opened and closed.
 */
export function noteCompiled(database: DatabaseSync, sql: string): void {
  const length = sql.length + OVERHEAD;
  characters += length;
  byDatabase.set(database, (byDatabase.get(database) ?? 0) + length);
  if (characters >= MAX_CHARACTERS) collect();
}

/** Call for a connection that keeps compiled statements, until `noteClosed`. */
export function noteKeeping(database: DatabaseSync, forget: () => void): void {
  caches.set(database, forget);
}

/**
 * Does `work`. Where SQLite has no memory for it, no connection of this process keeps a statement any more: a short text
 * can take half a megabyte, so those of one database could leave nothing for all others. Then the work is done once more.
 * Throws what `work` throws.
 */
export function withMemory<T>(work: () => T): T {
  try {
    return makingRoom(work);
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
  }
  return work();
}

/** The same once: for work whose failure may have left something. */
export function makingRoom<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isOutOfMemory(error)) forgetAll();
    throw error;
  }
}

/** Whether SQLite had no memory for work whose failure was not thrown. Then there is room for it to be done once more. */
export function madeRoom(failure: EngineFailure | undefined): boolean {
  const lacked = failure !== undefined && lackedMemory(failure);
  if (lacked) forgetAll();
  return lacked;
}

function forgetAll(): void {
  for (const forget of caches.values()) forget();
  collect();
}

/** Call after closing a connection, which has freed its statements. */
export function noteClosed(database: DatabaseSync): void {
  caches.delete(database);
  characters -= byDatabase.get(database) ?? 0;
  byDatabase.delete(database);
}

/** The collector exists because the process is started with `--expose-gc`. */
function collect(): void {
  characters = 0;
  byDatabase = new WeakMap();
  const garbage: unknown = Reflect.get(globalThis, "gc");
  if (typeof garbage === "function") garbage();
}
