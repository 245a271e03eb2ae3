// Which indexes make the addresses of a users table unique, and whether upper and lower case are one to them.
import { foldingOf } from "../../../sql/schema/case_folding.ts";
import { sameName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { readOwnRows } from "../../query/read_own.ts";
import type { StatementsContext } from "../../query/run_statements.ts";

/** Unique indexes of one column or expression that hold for every row. */
const UNIQUE =
  `SELECT x.name, s.sql, x.coll FROM pragma_index_list(?) AS i JOIN pragma_index_xinfo(i.name) AS x ` +
  `LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = i.name WHERE i."unique" = 1 AND i.partial = 0 ` +
  `AND x.key = 1 AND (SELECT count(*) FROM pragma_index_info(i.name)) = 1`;

type UniqueRow = [column: string | null, sql: string | null, collation: string];

/** A column with addresses. */
export interface EmailColumn {
  readonly table: string;
  readonly email: string;
}

/** What is unique, and the comparison by which an index finds an address in any case; null: there is no such index. */
export interface EmailIndexes {
  readonly unique: boolean;
  readonly anyCase: string | null;
}

/** Errors: those of the pipeline. */
export async function readEmailIndexes(
  ctx: StatementsContext,
  { table, email }: EmailColumn,
): Promise<EmailIndexes> {
  const rows = await readOwnRows<UniqueRow>(ctx, { sql: UNIQUE, params: [table] });
  const found = rows.flatMap((row) => comparison(row, email));
  return { unique: found.length > 0, anyCase: found.find((one) => one !== null) ?? null };
}

/** Of an index that is about the column: how it compares without regard to case, null where it does not. */
function comparison([column, sql, collation]: UniqueRow, email: string): [string | null] | [] {
  const name = quoteIdentifier(email);
  if (column !== null) {
    if (!sameName(column, email)) return [];
    return [/^nocase$/i.test(collation) ? `${name} = ?1 COLLATE NOCASE` : null];
  }
  const fold = foldingOf(sql ?? "", email);
  return fold === null ? [] : [`${fold}(${name}) = ${fold}(?1)`];
}

/** The index that makes addresses unique whatever their case. */
export function emailIndex({ table, email }: EmailColumn): string {
  return `CREATE UNIQUE INDEX ${quoteIdentifier(`${table}_${email}`)} ON ${quoteIdentifier(table)} ` +
    `(lower(${quoteIdentifier(email)}))`;
}
