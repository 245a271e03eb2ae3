// Which tables a row of the audit trail or of the changes is about.

/** Guarantee: whoever writes such a row writes the names as a JSON array. */
export function writtenTables(tables: string): readonly string[] {
  return JSON.parse(tables);
}
