// A SQLite file that was not made by the service.
import { DatabaseSync } from "node:sqlite";

/** Its bytes, with whatever `edit` does to it. */
export function strangersFile(sql: string, edit: (db: DatabaseSync) => void = () => {}): Uint8Array {
  const path = Deno.makeTempFileSync({ prefix: "cubby_stranger_" });
  const db = new DatabaseSync(path, { enableDoubleQuotedStringLiterals: true });
  db.enableDefensive(false);
  db.exec(sql);
  edit(db);
  db.close();
  const bytes = Deno.readFileSync(path);
  Deno.removeSync(path);
  return bytes;
}
