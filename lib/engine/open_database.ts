// Opens a tenant's file with the engine's limits.
import type {} from "./node_sqlite.d.ts";
import { DatabaseSync } from "node:sqlite";
import { FORM_CHARACTERS } from "./bounded_select.ts";
import { ENGINE_LIMITS } from "./engine_limits.ts";
import type { TypedColumn } from "./typed_result.ts";

/** Milliseconds that SQLite waits for another process's lock; the store queues the writers of one database anyway. */
const BUSY_TIMEOUT_MS = 2000;

/** How a file is opened, where not as most are. */
export interface Opening {
  readonly readOnly: boolean;
  readonly busyTimeoutMs?: number;
  /** Bytes of the longest value. */
  readonly valueBytes?: number;
}

/** Opens it without a guard. Throws what the engine throws. */
export function openDatabase(path: string, opening: Opening): DatabaseSync {
  const { readOnly, busyTimeoutMs = BUSY_TIMEOUT_MS, valueBytes = ENGINE_LIMITS.length } = opening;
  const sqlLength = ENGINE_LIMITS.sqlLength + FORM_CHARACTERS;
  return new DatabaseSync(path, {
    readOnly,
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
    allowExtension: false,
    timeout: busyTimeoutMs,
    defensive: true,
    limits: { ...ENGINE_LIMITS, length: valueBytes, sqlLength },
  });
}

/** The modules for virtual tables that this engine build has. */
export function moduleNames(database: DatabaseSync): string[] {
  return database.prepare("PRAGMA module_list").all().map((row) => String(row["name"]));
}

/** The columns of a statement that has been compiled under the guard before. Throws what the engine throws. */
export function columnsOf(database: DatabaseSync, sql: string): TypedColumn[] {
  return database.prepare(sql).columns().map(({ name, type }) => ({ name, type }));
}
