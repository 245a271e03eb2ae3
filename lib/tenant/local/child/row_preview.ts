// Rows that an UPDATE or DELETE of one table affects, before and after, found by the keys that the statement returns.
import type { CompileConnection } from "./compile_connection.ts";
import type { Connection } from "./connection.ts";
import { type PlanToken, planTokens } from "./plan_tokens.ts";
import type { WireCall, WireEffect, WireStatement, WireValue } from "./protocol.ts";
import { type EngineValue, jsonValue } from "./result_json.ts";

/** Rows shown of a statement. */
export const PREVIEW_ROWS = 10;
const ROW_IDS: readonly string[] = ["rowid", "_rowid_", "oid"];

type Preview = NonNullable<WireEffect["preview"]>;

/** What the statement changes. Keys are quoted names. */
export interface PreviewTarget {
  readonly tokens: readonly PlanToken[];
  readonly verb: "UPDATE" | "DELETE";
  readonly table: string;
  /** What columns of the table are called in the statement. */
  readonly qualifier: string;
  readonly keys: readonly string[];
  /** Names that stand for a part of the key. */
  readonly keyNames: ReadonlySet<string>;
  /** Where the text ends before RETURNING. */
  readonly end: number;
}

/** Runs the statement behind the savepoint `effect` and undoes it; null where no single table's rows can be told. */
export function rowPreview(connection: Connection, call: WireCall, statement: WireStatement): Preview | null {
  try {
    const target = targetOf(connection, statement[0]);
    return target && previewOf(connection, call, statement, target);
  } catch {
    // The statement itself has run: what cannot be shown of it is no reason to fail it.
    return null;
  } finally {
    connection.internalRun("ROLLBACK TO effect");
  }
}

function previewOf(
  connection: Connection,
  call: WireCall,
  statement: WireStatement,
  target: PreviewTarget,
): Preview | null {
  const { table, verb } = target;
  const moved = verb === "UPDATE" ? unmovedForm(statement, target) : null;
  let shown: string[];
  let before: string[];
  if (moved === null) before = shown = keysOf(connection, statement, target);
  else {
    before = keysOf(connection, moved, { ...target, end: moved[0].length });
    connection.internalRun("ROLLBACK TO effect");
    shown = keysOf(connection, statement, target);
  }
  if (shown.length === 0) return null;
  const rows = (found: readonly string[]) => {
    // Pairs stay side by side where the key itself changes; otherwise the key's order reads better.
    const groups = moved === null ? [found] : found.map((key) => [key]);
    return groups.flatMap((group) =>
      jsonRows(connection, selectByKeys(target, group), call.integersAsStrings)
    );
  };
  const after = verb === "DELETE" ? [] : rows(shown);
  connection.internalRun("ROLLBACK TO effect");
  const columns = connection.internalRows("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1", table);
  return { table, columns: columns.map(([name]) => String(name)), before: rows(before), after };
}

/** Rows of a SELECT of the service's own, as the API writes values. Not kept prepared: no text is used twice. */
export function jsonRows(connection: Connection, select: string, integersAsStrings: boolean): WireValue[][] {
  const statement = connection.database.prepare(select);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  return statement.all().map((row) =>
    Array.isArray(row) ? row.map((value: EngineValue) => jsonValue(value, integersAsStrings)) : []
  );
}

/** Runs it and returns the keys of its first rows as SQL literals. */
function keysOf(
  connection: Connection,
  [sql, params, level]: WireStatement,
  { keys, end }: PreviewTarget,
): string[] {
  const text = returningKeys(sql, { keys, end });
  return connection.firstRows(level, text, params, PREVIEW_ROWS).map(([key]) => String(key));
}

/** The statement so that it returns the keys of its rows as SQL literals. */
export function returningKeys(sql: string, { keys, end }: Pick<PreviewTarget, "keys" | "end">): string {
  // `quote` ends a text at U+0000.
  const literal = keys.map((key) =>
    `CASE typeof(${key}) WHEN 'text' THEN 'CAST(x''' || hex(${key}) || ''' AS TEXT)' ELSE quote(${key}) END`
  ).join(" || ',' || ");
  return `${sql.slice(0, end)} RETURNING ${literal}`;
}

/** The SELECT of rows by such literals. */
export function selectByKeys({ table, keys }: PreviewTarget, literals: readonly string[]): string {
  const names = keys.join(", ");
  const values = literals.map((key) => `(${key})`).join(", ");
  return `SELECT * FROM ${quoted(table)} WHERE (${names}) IN (VALUES ${values}) ORDER BY ${names}`;
}

/** The one table that an UPDATE or DELETE changes; needs the schema only. */
export function targetOf(connection: CompileConnection, sql: string): PreviewTarget | null {
  const all = planTokens(sql);
  const tokens = all.filter((token) => token.depth === 0);
  const verbAt = tokens.findIndex(({ key }) => key === "UPDATE" || key === "DELETE");
  if (verbAt < 0 || (verbAt > 0 && tokens[0]?.key !== "WITH")) return null;
  if (tokens.slice(0, verbAt).some(({ key }) => key === "INTO" || key === "INSERT")) return null;
  const verb = tokens[verbAt]?.key === "DELETE" ? "DELETE" : "UPDATE";
  let nameAt = verbAt + 1;
  if (verb === "DELETE") nameAt++;
  else if (tokens[nameAt]?.key === "OR") nameAt += 2;
  if (tokens[nameAt + 1]?.key === ".") nameAt += 2;
  const [table, withoutRowid] = connection.internalRow(
    "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ? COLLATE NOCASE",
    tokens[nameAt]?.text ?? "",
  ) ?? [];
  if (typeof table !== "string") return null;
  const keys = withoutRowid ? primaryKey(connection, table) : rowIdOf(connection, table);
  if (keys.length === 0) return null;
  const alias = tokens[nameAt + 1]?.key === "AS" ? tokens[nameAt + 2]?.text : undefined;
  const keyNames = new Set([...ROW_IDS, ...primaryKey(connection, table)].map((name) => name.toLowerCase()));
  const returning = tokens.find(({ key }) => key === "RETURNING");
  const last = tokens.findLast(({ key }) => key !== ";");
  return {
    ...{ tokens: all, verb, table, qualifier: quoted(alias ?? table), keyNames },
    keys: keys.map(quoted),
    end: returning?.at ?? last?.end ?? sql.length,
  };
}

function primaryKey(connection: CompileConnection, table: string): string[] {
  return connection.internalRows("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table)
    .map(([name]) => String(name));
}

/** A name of the rowid that no column has taken. */
function rowIdOf(connection: CompileConnection, table: string): string[] {
  const columns = new Set(
    connection.internalRows("SELECT lower(name) FROM pragma_table_xinfo(?)", table).map(([name]) => name),
  );
  return ROW_IDS.filter((name) => !columns.has(name)).slice(0, 1);
}

/**
 * The same UPDATE with its keys as they are, which returns the keys from before; null where it leaves them alone.
 * The parameters behind the list that is left out keep their numbers.
 */
export function unmovedForm(
  [sql, params, level]: WireStatement,
  target: PreviewTarget,
): WireStatement | null {
  const { tokens, qualifier, keyNames, keys, end } = target;
  const setAt = tokens.findIndex(({ key, depth }) => key === "SET" && depth === 0);
  const list = tokens.slice(setAt + 1);
  const stop = list.findIndex(({ key, depth, at }, index) =>
    at >= end || (depth === 0 && (key === "WHERE" || (key === "FROM" && list[index - 1]?.key !== "DISTINCT")))
  );
  const assigned = stop < 0 ? list : list.slice(0, stop);
  if (
    !assigned.some(({ kind, text }) =>
      (kind === "word" || kind === "name") && keyNames.has(text.toLowerCase())
    )
  ) {
    return null;
  }
  const resume = stop < 0 ? end : list[stop]?.at ?? end;
  const [key = ""] = keys;
  const head = tokens[setAt]?.end ?? 0;
  const { text, numbers } = numbered(sql.slice(0, end), tokens, { from: head, to: resume });
  return [text(` ${key} = ${qualifier}.${key} `), params.slice(0, Math.max(0, ...numbers)), level];
}

/** The text with every parameter outside of the cut numbered as it was. */
function numbered(sql: string, tokens: readonly PlanToken[], cut: { from: number; to: number }) {
  const numbers: number[] = [];
  let highest = 0;
  const parts = { head: "", tail: "" };
  let done = 0;
  const copy = (to: number, place: "head" | "tail") => {
    parts[place] += sql.slice(done, to);
    done = to;
  };
  for (const { kind, text, at, end } of tokens) {
    if (kind !== "parameter" || at >= sql.length) continue;
    const number = text === "?" ? highest + 1 : Number(text.slice(1));
    highest = Math.max(highest, number);
    if (at >= cut.from && at < cut.to) continue;
    const place = at < cut.from ? "head" : "tail";
    if (place === "tail" && done <= cut.from) {
      copy(cut.from, "head");
      done = cut.to;
    }
    copy(at, place);
    parts[place] += `?${number}`;
    done = end;
    numbers.push(number);
  }
  if (done <= cut.from) {
    copy(cut.from, "head");
    done = cut.to;
  }
  copy(sql.length, "tail");
  return { text: (between: string) => parts.head + between + parts.tail, numbers };
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
