// A schema without rows, on which plans can be asked for that must not touch the connection that runs statements: the
// engine's EXPLAIN of a write sets what `changes()` says to 0.
import { DatabaseSync } from "node:sqlite";

/** Objects of the largest schema that is copied: each that is made has the engine read its catalogue. */
const MAX_OBJECTS = 256;

/** A text of a file that came from elsewhere attaches no other file, and writes no catalogue. */
const ALONE = { limits: { attach: 0 }, defensive: true, allowExtension: false };

/** The schema that the connection sees now, also what its open transaction has made; null: it is too large. */
export function emptyCopy(database: DatabaseSync): DatabaseSync | null {
  const texts = database.prepare(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL " +
      "ORDER BY type = 'trigger', type = 'view', type = 'index', sql NOT LIKE 'CREATE VIRTUAL%', rowid",
  ).all();
  if (texts.length > MAX_OBJECTS) return null;
  const copy = new DatabaseSync(":memory:", ALONE);
  if (database.prepare("PRAGMA foreign_keys").get()?.["foreign_keys"] === 0) {
    copy.exec("PRAGMA foreign_keys=OFF");
  }
  for (const { sql } of texts) {
    try {
      copy.exec(String(sql));
    } catch {
      // A virtual table has made its own tables, and names of the engine's are not to be made.
    }
  }
  return copy;
}
