// Reads the columns and the key of one table or view.
import { sameName } from "../../sql/words/names.ts";
import { isReservedName } from "../../sql/words/service_tables.ts";
import { readOwn } from "../query/read_own.ts";
import { rowsOf } from "../query/read_result.ts";
import type { StatementsContext } from "../query/run_statements.ts";

/** A column as the schema declares it. */
export interface ColumnDefinition {
  readonly name: string;
  readonly declaredType: string;
  readonly notNull: boolean;
  /** Position in the primary key from 1, 0 outside of it. */
  readonly keyPosition: number;
  readonly generated: boolean;
  /** Text behind DEFAULT, null where there is none. */
  readonly defaultSql: string | null;
}

/** A table or view as the schema declares it. */
export interface TableDefinition {
  readonly name: string;
  readonly kind: "table" | "view" | "virtual";
  readonly columns: readonly ColumnDefinition[];
  /** The engine counts the key up by itself: one INTEGER PRIMARY KEY column of a table with rowids. */
  readonly keyIsRowid: boolean;
  /** A column declared ANY keeps what it is given, as one without a type does. */
  readonly strict: boolean;
}

const COLUMNS =
  'SELECT name, type, "notnull", pk, hidden, dflt_value FROM pragma_table_xinfo(?) ORDER BY cid';
const KIND = "SELECT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?";
/** Counts indexes that stand for the key. The engine counts a key up only where there is no such index. */
const KEY_INDEX = "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'";

type ColumnRow = [
  name: string,
  type: string,
  notNull: number,
  keyPosition: number,
  hidden: number,
  defaultSql: string | null,
];

/** Null where no table or view has that name. The name is spelled as in the schema. Errors: those of the pipeline. */
export async function readTable(ctx: StatementsContext, table: string): Promise<TableDefinition | null> {
  const tenant = ctx.tenants.open(ctx.target);
  const found = (await tenant.schema()).tables.find(({ name }) => sameName(name, table));
  if (!found || found.kind === "shadow" || isReservedName(found.name)) return null;
  const { name, kind } = found;
  const statements = [COLUMNS, KIND, KEY_INDEX].map((sql) => ({ sql, params: [name] }));
  const [columns, declared, keyIndex] = await readOwn(ctx, statements);
  const read = rowsOf<ColumnRow>(columns).filter((row) => row[4] !== 1);
  const keys = read.filter((row) => row[3] > 0);
  const [[withoutRowid, strict] = []] = rowsOf<[number, number]>(declared);
  return {
    name,
    kind,
    columns: read.map(([name, declaredType, notNull, keyPosition, hidden, defaultSql]) => ({
      name,
      declaredType,
      notNull: notNull === 1,
      keyPosition,
      generated: hidden > 1,
      defaultSql,
    })),
    keyIsRowid: keys.length === 1 && /^integer$/i.test(keys[0]?.[1] ?? "") &&
      withoutRowid === 0 && rowsOf<[number]>(keyIndex)[0]?.[0] === 0,
    strict: strict === 1,
  };
}
