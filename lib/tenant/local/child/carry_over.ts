// What a restored database keeps of the state that it replaces.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import type { Connection } from "../../../engine/connection.ts";
import { carriedAbove, CHRONICLES, newestTimeQuery } from "../../../sql/service/chronicles.ts";
import { carriedReplays } from "../../../sql/service/replay_rows.ts";

/** Rows carried over at once. */
const CARRIED_AT_ONCE = 2000;

/** Carries over rows about what happened, which a restore does not undo. */
export function carryChronicles(from: Connection, to: Connection): void {
  for (const table of CHRONICLES) {
    const [newestMs = null] = to.internalRow(newestTimeQuery(table)) ?? [];
    let last = carriedAbove(table, newestMs === null ? null : Number(newestMs));
    for (;;) {
      const rows = from.internalRows(
        `SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
        last,
        CARRIED_AT_ONCE,
      );
      if (rows.length === 0) break;
      insertRows(to, table, rows);
      last = String(rows.at(-1)?.[0]);
    }
  }
}

/** Carries over stored answers, so that repeated calls do not run again. */
export function carryReplays(from: Connection, to: Connection, nowMs: number): void {
  // The present state also has every unexpired answer of the snapshot.
  to.internalRun(`DELETE FROM _service_meta_replay WHERE ${carriedReplays}`);
  const ids = from.internalRows(
    `SELECT id FROM _service_meta_replay WHERE expires_at > ? AND ${carriedReplays} ORDER BY id`,
    nowMs,
  );
  for (const [id] of ids) {
    const rows = from.internalRows("SELECT * FROM _service_meta_replay WHERE id = ?", Number(id));
    // With an id of its own, since the snapshot may have that of another answer, which stays.
    insertRows(to, "_service_meta_replay", rows.map(([, ...row]) => [null, ...row]));
  }
}

/** An older version of the service may have written the present file, with fewer columns in its tables. */
function insertRows(to: Connection, table: string, rows: readonly EngineValue[][]): void {
  const names = to.internalRows("SELECT name FROM pragma_table_info(?) ORDER BY cid", table);
  to.internalRun("BEGIN IMMEDIATE");
  for (const row of rows) {
    const columns = names.slice(0, row.length).join(",");
    to.internalRun(
      `INSERT OR REPLACE INTO ${table} (${columns}) VALUES (${row.map(() => "?").join(",")})`,
      ...row.map((value) => value instanceof Uint8Array ? null : value),
    );
  }
  to.internalRun("COMMIT");
}
