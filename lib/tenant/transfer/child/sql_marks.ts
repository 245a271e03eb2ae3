// The first and the last line of a dump that this service writes, by which a cut file is found out.

/** The first line. */
export const FIRST_LINE = "-- a whole export has as its last line how many tables and rows it holds\n";
/** The last line. */
export function endLine(tables: number, rows: number): string {
  return `-- end of export: ${tables} tables, ${rows} rows\n`;
}

/** Finds the number of rows in a last line. */
export const END_LINE = /-- end of export: \d+ tables, (\d+) rows\s*$/;
