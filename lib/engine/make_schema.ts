// Makes a schema in memory from its texts, in a time that grows with their number only.
import type { CompileConnection, InternalParameter } from "./compile_connection.ts";

/** An empty database in memory. */
export interface SchemaTarget extends CompileConnection {
  /** Runs texts of the tenant's schema as the service's own. Throws what the engine throws. */
  exec(sql: string): void;
  /** Whether the service's own statements may write the engine's catalogue; else nobody's may. */
  writeCatalogue(may: boolean): void;
}

/**
 * Statements whose rows stay in the engine's catalogue while others are made. The engine reads all of its catalogue to find
 * the row of each object that it has made.
 */
const KEPT_ROWS = 256;

const ROWS = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid";

/** Runs the texts in order. What fails is left out, and `failed` is told of it; whatever that throws ends the work. */
export function makeSchema(
  target: SchemaTarget,
  texts: readonly string[],
  failed: (error: unknown) => void,
): void {
  const away: InternalParameter[][] = [];
  for (const [at, text] of texts.entries()) {
    if (at % KEPT_ROWS === 0 && at > 0) putAway(target, away);
    try {
      target.exec(text);
    } catch (error) {
      failed(error);
      // The engine may read the catalogue anew behind a failure, so it has to be whole.
      putBack(target, away);
    }
  }
  putBack(target, away);
}

/** The engine has read these rows, and knows what they say without them. */
function putAway(target: SchemaTarget, away: InternalParameter[][]): void {
  // A text is never bytes here.
  for (const row of target.internalRows(ROWS)) {
    away.push(row.map((value) => value instanceof Uint8Array ? null : value));
  }
  target.writeCatalogue(true);
  try {
    target.exec("PRAGMA writable_schema=ON; DELETE FROM sqlite_schema; PRAGMA writable_schema=OFF");
  } finally {
    target.writeCatalogue(false);
  }
}

function putBack(target: SchemaTarget, away: InternalParameter[][]): void {
  if (away.length === 0) return;
  putAway(target, away);
  target.writeCatalogue(true);
  try {
    target.exec("PRAGMA writable_schema=ON; BEGIN");
    for (const row of away) target.internalRows("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", ...row);
    target.exec("COMMIT; PRAGMA writable_schema=RESET");
  } finally {
    target.writeCatalogue(false);
  }
  away.length = 0;
}
