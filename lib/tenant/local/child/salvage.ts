// Salvages log rows and stored answers from a damaged file: as many as can be read, from both ends of each table.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import type { Connection } from "../../../engine/connection.ts";
import { engineFailure } from "../../../engine/engine_failure.ts";
import { carriedReplays } from "../../../sql/service/replay_rows.ts";

/** The most rows read at once; near a damaged page fewer are. */
const READ_AT_ONCE = 2048;
/** An answer of a full piece's length may have further pieces that are lost, so its replay might have a gap. */
const LONGEST_WHOLE_ANSWER = 3_999_990;
/** A text that sorts behind every id. */
const BEHIND_ALL = "~";

/** Salvages one log table, whose ids sort by time. */
export function salvageRows(from: Connection, to: Connection, table: string): void {
  const columns = commonColumns(from, to, table);
  if (columns === null) return;
  const known = String(to.internalRow(`SELECT max(id) FROM ${table}`)?.[0] ?? "");
  const copy = { from, to, table, columns };
  const forward = copyOn(copy, "id > ? ORDER BY id", known);
  if (!forward.stopped) return;
  // Reads from the other end, up to the damage.
  copyOn(copy, `id > '${forward.edge}' AND id < ? ORDER BY id DESC`, BEHIND_ALL);
}

/** Salvages stored answers that are unexpired and complete. */
export function salvageReplays(from: Connection, to: Connection, nowMs: number): void {
  const table = "_service_meta_replay";
  to.internalRun(`DELETE FROM ${table} WHERE ${carriedReplays}`);
  const columns = commonColumns(from, to, table);
  if (columns === null) return;
  const whole = `${carriedReplays} AND piece = 0 AND length(answer) < ${LONGEST_WHOLE_ANSWER} ` +
    `AND expires_at > ${Math.round(nowMs)}`;
  copyOn({ from, to, table, columns }, `${whole} AND id > ? ORDER BY id`, 0);
}

interface TableCopy {
  readonly from: Connection;
  readonly to: Connection;
  readonly table: string;
  readonly columns: string;
}

/** Reads on from the row read last until there are no more (`stopped` false) or none can be read. */
function copyOn(
  { from, to, table, columns }: TableCopy,
  where: string,
  start: string | number,
): { readonly edge: string | number; readonly stopped: boolean } {
  let edge = start;
  for (let limit = READ_AT_ONCE; limit >= 1;) {
    const rows = readable(() =>
      from.internalRows(`SELECT ${columns} FROM ${table} WHERE ${where} LIMIT ?`, edge, limit)
    );
    if (rows === null) {
      limit = Math.floor(limit / 2);
      continue;
    }
    const next = rows.at(-1)?.[0];
    if (typeof next !== typeof edge) return { edge, stopped: rows.length > 0 };
    insertAccepted(to, `INSERT OR REPLACE INTO ${table} (${columns})`, rows);
    edge = typeof next === "number" ? next : String(next);
    if (/[^\w]/.test(String(edge))) return { edge: start, stopped: true };
  }
  return { edge, stopped: true };
}

/** The columns of a table that both files have, the id first; null where they cannot be read. */
function commonColumns(from: Connection, to: Connection, table: string): string | null {
  const names = (one: Connection) =>
    one.internalRows("SELECT name FROM pragma_table_info(?)", table).map(([name]) => String(name));
  const present = readable(() => names(from)) ?? [];
  const columns = names(to).filter((name) => present.includes(name));
  return columns[0] === "id" ? columns.join(", ") : null;
}

/** Null: that part of the file is damaged, in whatever way the engine noticed. */
function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const { kind } = engineFailure(error, null);
    if (kind === "full" || kind === "busy") throw error;
    return null;
  }
}

/** Inserts the rows that the table accepts, because a row of a damaged page may hold anything. */
function insertAccepted(to: Connection, insert: string, rows: readonly EngineValue[][]): void {
  to.internalRun("BEGIN IMMEDIATE");
  for (const row of rows) {
    const values = row.map((value) => value instanceof Uint8Array ? null : value);
    try {
      to.internalRun(`${insert} VALUES (${values.map(() => "?").join(",")})`, ...values);
    } catch (error) {
      if (engineFailure(error, null).kind === "full") throw error;
    }
  }
  to.internalRun("COMMIT");
}
