// Log rows as they travel to an engine child: most of a row is what the row before it says as well.
import type { LogValues } from "../log_columns.ts";
import type { WireLogTable } from "./child/wire_log.ts";

/** By column instead of by row, one table for each kind of row: a value that all rows share travels once. */
export function packLogRows(rows: readonly LogValues[]): WireLogTable[] {
  const byWidth = new Map<number, LogValues[]>();
  for (const row of rows) {
    const alike = byWidth.get(row.length);
    if (alike) alike.push(row);
    else byWidth.set(row.length, [row]);
  }
  return Array.from(byWidth.values(), packTable);
}

function packTable(rows: readonly LogValues[]): WireLogTable {
  const [first = []] = rows;
  const columns = first.map((value, at) =>
    rows.every((row) => row[at] === value) ? value : rows.map((row) => row[at] ?? null)
  );
  return { rows: rows.length, columns };
}
