// Quoting of names and texts in SQL that the service writes.

/** `"name"` with inner quotes doubled. The name must contain no U+0000, which no name in a schema does. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** `'text'` with inner quotes doubled. The text must contain no U+0000. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
