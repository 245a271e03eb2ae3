// Finds which table an INSERT, UPDATE or DELETE changes, and the key of its rows.
import { quoteIdentifier } from "../sql/words/quote.ts";
import { freeRowidName, rowidNames } from "../sql/words/rowid_names.ts";
import type { CompileConnection } from "./compile_connection.ts";
import { type SqlToken, sqlTokens } from "../sql/tokens/sql_tokens.ts";

const VERBS: readonly PreviewTarget["verb"][] = ["INSERT", "UPDATE", "DELETE"];

/** The table that a statement changes. Keys are quoted names. */
export interface PreviewTarget {
  readonly tokens: readonly SqlToken[];
  /** REPLACE is an INSERT. */
  readonly verb: "INSERT" | "UPDATE" | "DELETE";
  readonly table: string;
  /** What columns of the table are called in the statement. */
  readonly qualifier: string;
  readonly keys: readonly string[];
  /** Names, of columns or of the rowid, that stand for a part of the key. */
  readonly keyNames: ReadonlySet<string>;
  /** The end of the text before RETURNING. */
  readonly end: number;
  /** Parameters that the text takes up to there. */
  readonly parameters: number;
}

/** The one table that an INSERT, UPDATE or DELETE changes; needs the schema only. */
export function targetOf(connection: CompileConnection, sql: string): PreviewTarget | null {
  const all = sqlTokens(sql);
  const tokens = all.filter((token) => token.depth === 0);
  const verbAt = tokens.findIndex(({ key }, at) =>
    VERBS.some((verb) => verb === key) || (key === "REPLACE" && tokens[at + 1]?.key === "INTO")
  );
  if (verbAt < 0 || (verbAt > 0 && tokens[0]?.key !== "WITH")) return null;
  const verb = VERBS.find((one) => one === tokens[verbAt]?.key) ?? "INSERT";
  let nameAt = verbAt + 1;
  // `OR REPLACE` stands behind the verb, and INTO or FROM before the name.
  if (tokens[nameAt]?.key === "OR") nameAt += 2;
  if (verb !== "UPDATE") nameAt++;
  if (tokens[nameAt + 1]?.key === ".") nameAt += 2;
  const [table, withoutRowid] = connection.internalRow(
    "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ? COLLATE NOCASE",
    tokens[nameAt]?.text ?? "",
  ) ?? [];
  if (typeof table !== "string") return null;
  const keys = withoutRowid ? primaryKey(connection, table) : rowIdOf(connection, table);
  if (keys.length === 0) return null;
  const alias = tokens[nameAt + 1]?.key === "AS" ? tokens[nameAt + 2]?.text : undefined;
  const keyNames = new Set(
    [...rowidNames, ...primaryKey(connection, table)].map((name) => name.toLowerCase()),
  );
  const returning = tokens.find(({ key }) => key === "RETURNING");
  const last = tokens.findLast(({ key }) => key !== ";");
  const end = returning?.at ?? last?.end ?? sql.length;
  return {
    tokens: all,
    verb,
    table,
    qualifier: quoteIdentifier(alias ?? table),
    keyNames,
    keys: keys.map(quoteIdentifier),
    end,
    parameters: all.filter(({ at }) => at < end).reduce(highestParameter, 0),
  };
}

/** A bare `?` takes the number after the highest one so far. */
function highestParameter(highest: number, { kind, text }: SqlToken): number {
  if (kind !== "parameter") return highest;
  return Math.max(highest, text === "?" ? highest + 1 : Number(text.slice(1)));
}

function primaryKey(connection: CompileConnection, table: string): string[] {
  return connection.internalRows("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table)
    .map(([name]) => String(name));
}

/** A rowid name that no column uses. */
function rowIdOf(connection: CompileConnection, table: string): string[] {
  const columns = connection.internalRows("SELECT name FROM pragma_table_xinfo(?)", table);
  const free = freeRowidName(columns.map(([name]) => String(name)));
  return free === null ? [] : [free];
}
