// Names inside SQL text that the service writes.

/** `"name"` with inner quotes doubled. The name must be free of U+0000, which no name in a schema has. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** `'text'` with inner quotes doubled. The text must be free of U+0000. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
