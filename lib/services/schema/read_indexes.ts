// Reads the indexes of all tables in one statement.
import { rowsOf } from "../query/read_result.ts";

/** An index of a table. */
export interface IndexFacts {
  readonly name: string;
  readonly unique: boolean;
  /** `c`: made by CREATE INDEX; otherwise it belongs to a UNIQUE or PRIMARY KEY constraint of the table. */
  readonly origin: "c" | "u" | "pk";
  readonly partial: boolean;
  /** In order; a null name is an expression. */
  readonly columns: readonly { readonly name: string | null; readonly collation: string }[];
}

/** Its result is what `toIndexes` takes. */
export const INDEXES = `SELECT s.name, i.name, i."unique", i.origin, i.partial, x.name, x.coll ` +
  "FROM sqlite_schema AS s JOIN pragma_index_list(s.name) AS i JOIN pragma_index_xinfo(i.name) AS x " +
  "WHERE s.type = 'table' AND x.key = 1 ORDER BY s.name, i.name, x.seqno";

type IndexRow = [
  ...[table: string, name: string, unique: number, origin: IndexFacts["origin"], partial: number],
  ...[column: string | null, collation: string],
];

/** By table. */
export function toIndexes(result: string | undefined): Map<string, IndexFacts[]> {
  const byTable = new Map<string, IndexFacts[]>();
  const rows = rowsOf<IndexRow>(result);
  for (const group of Map.groupBy(rows, ([table, name]) => `${table}\u0000${name}`).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const [table, name, unique, origin, partial] = first;
    const columns = group.map(([, , , , , column, collation]) => ({ name: column, collation }));
    const list = byTable.get(table) ?? [];
    list.push({ name, unique: unique === 1, origin, partial: partial === 1, columns });
    byTable.set(table, list);
  }
  return byTable;
}
