// Reads one table or view for a scaffold.
import { plainCall } from "../../../query/plain_call.ts";
import { run } from "../../../query/run.ts";
import { isReservedName } from "../../../sql/service_tables.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { foldName } from "../../schema/fold_name.ts";
import { rowsOf } from "../../schema/read_rows.ts";
import type { ScaffoldTable } from "./scaffold_table.ts";

const COLUMNS =
  'SELECT name, type, "notnull", pk, hidden, dflt_value FROM pragma_table_xinfo(?) ORDER BY cid';
const ROWID = "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND name = ? AND wr = 0";
/** Of a key that is an index of its own there is one: the engine counts up only where there is none. */
const KEY_INDEX = "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'";

type ColumnRow = [
  ...[name: string, type: string, notNull: number, keyPlace: number, hidden: number],
  ...[defaultSql: string | null],
];

/** Null where there is none of that name. The answer spells it as the schema does. Errors: those of the pipeline. */
export async function readTable(ctx: StatementsContext, table: string): Promise<ScaffoldTable | null> {
  const { target, tokenId } = ctx;
  const tenant = ctx.tenants.open(target.databaseId, target.namespaceId);
  const found = (await tenant.schema()).tables.find(({ name }) => foldName(name) === foldName(table));
  if (!found || found.kind === "shadow" || isReservedName(found.name)) return null;
  const { name, kind } = found;
  const statements = [COLUMNS, ROWID, KEY_INDEX].map((sql) => ({ sql, params: [name] }));
  const { results } = await run(ctx, plainCall({ target, tokenId, operation: "service", statements }));
  const [columns, rowid, keyIndex] = results.map(({ json }) => json);
  const read = rowsOf<ColumnRow>(columns).filter((row) => row[4] !== 1);
  const keys = read.filter((row) => row[3] > 0);
  return {
    ...{ name, kind },
    columns: read.map(([name, declaredType, notNull, keyPlace, hidden, defaultSql]) => ({
      ...{ name, declaredType, notNull: notNull === 1, keyPlace, generated: hidden > 1, defaultSql },
    })),
    keyIsRowid: keys.length === 1 && /^integer$/i.test(keys[0]?.[1] ?? "") &&
      rowsOf<[number]>(rowid)[0]?.[0] === 1 && rowsOf<[number]>(keyIndex)[0]?.[0] === 0,
  };
}
