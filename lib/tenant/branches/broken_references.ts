// Finds rows whose foreign key has no target. A merge runs without foreign keys, so it must not leave more of them.
import { foldName } from "../../sql/words/names.ts";
import { mayAll, rowsOf, type Work } from "./work.ts";

/** A row whose foreign key has no target. */
export interface BrokenReference {
  readonly table: string;
  readonly rowid: string | number | null;
  readonly parent: string;
}

const REFERENCES =
  "SELECT DISTINCT t.name, f.\"table\" FROM pragma_table_list t, pragma_foreign_key_list(t.name) f WHERE t.schema = 'main' AND t.type = 'table'";

/** Maps an identifying key to each broken reference. A foreign key that the engine cannot check is left out. */
export function* brokenReferences(tables: readonly string[]): Work<Map<string, BrokenReference>> {
  const sql = "SELECT rowid, parent, fkid FROM pragma_foreign_key_check(?)";
  const answers = yield* mayAll("trunk", tables.map((table) => ({ sql, params: [table] })));
  const broken = new Map<string, BrokenReference>();
  for (const [at, table] of tables.entries()) {
    const answer = answers[at];
    for (const [rowid, parent, id] of answer?.ok ? answer.rows : []) {
      const row = typeof rowid === "bigint" ? jsonRowid(rowid) : null;
      broken.set(JSON.stringify([table, row, Number(id)]), { table, rowid: row, parent: String(parent) });
    }
  }
  return broken;
}

/** Lists the tables that refer to one of `tables`, and those of `tables` that refer to any; null: all that refer. */
export function* referringTables(tables: ReadonlySet<string> | null): Work<string[]> {
  const rows = yield* rowsOf("trunk", REFERENCES);
  const keys = tables && new Set([...tables].map(foldName));
  const found = keys === null
    ? rows
    : rows.filter((names) => names.some((name) => keys.has(foldName(String(name)))));
  return [...new Set(found.map(([child]) => String(child)))];
}

function jsonRowid(rowid: bigint): string | number {
  return Number.isSafeInteger(Number(rowid)) ? Number(rowid) : String(rowid);
}
