// Packs log rows for the way to an engine child, because most of a row repeats the row before it.
import type { LogValues } from "../log_columns.ts";
import type { WireLogTable } from "./child/protocol.ts";

/** Packs rows by column, one table for each kind of row, so that a value that all rows share travels once. */
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
