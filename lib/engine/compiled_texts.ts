// How much memory SQLite may hold for compiled statements that nobody uses any more, and when it is given back.
import type { DatabaseSync } from "node:sqlite";

/** The fixed memory of a compiled statement, expressed in characters of text. */
const OVERHEAD = 200;
/** Characters compiled between two collections; each takes up to about 80 bytes of SQLite's memory (measured). */
const MAX_CHARACTERS = 1_000_000;

/** Characters that open connections have compiled since the last collection, of all and of each. */
let characters = 0;
let byDatabase = new WeakMap<DatabaseSync, number>();

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
  if (characters < MAX_CHARACTERS) return;
  characters = 0;
  byDatabase = new WeakMap();
  collectGarbage();
}

/** Call after closing a connection, which has freed its statements. */
export function noteClosed(database: DatabaseSync): void {
  characters -= byDatabase.get(database) ?? 0;
  byDatabase.delete(database);
}

/** Exists because the process is started with `--expose-gc`. */
function collectGarbage(): void {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect === "function") collect();
}
