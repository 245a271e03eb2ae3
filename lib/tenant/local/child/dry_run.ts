// What a call would do: it runs in a transaction that is always undone.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "./connection.ts";
import { planTokens } from "./plan_tokens.ts";
import { PlanSchema } from "./plan_schema.ts";
import type { Progress } from "./progress.ts";
import type {
  WireCall,
  WireEffect,
  WireFailure,
  WireOutcome,
  WireResult,
  WireStatement,
  WireValue,
} from "./protocol.ts";
import { failureOf, runStatement } from "./run_call.ts";
import { jsonValue } from "./result_json.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Rows shown of a statement. */
const PREVIEW_ROWS = 10;
/** Above so many affected rows none is shown: their keys would have to be held in memory. */
const MAX_PREVIEWED = 500_000;

/** The outcome of running the call's statements one after the other, and nothing of it stays. */
export function dryRun(
  file: TenantFile,
  call: WireCall,
  progress: Progress,
): { readonly outcome: WireOutcome; readonly text: string } {
  const connection = file.writer();
  const startedMs = systemClock.monotonicMs();
  connection.internalRun("BEGIN IMMEDIATE");
  try {
    const version = file.writerVersion();
    if (call.schemaVersion !== version) return { outcome: { k: "stale", v: version }, text: "" };
    const results: WireResult[] = [];
    const effects: WireEffect[] = [];
    let text = "";
    const failed = (at: number, f: WireFailure) => ({
      outcome: { k: "failed", r: [], at, f, ms: systemClock.monotonicMs() - startedMs, w: [0, 0] } as const,
      text: "",
    });
    for (const [index, statement] of call.statements.entries()) {
      progress.startStatement(0, index);
      try {
        const { json, read, effect } = effectOf(connection, call, statement);
        results.push([json.length, read, 0]);
        text += json;
        effects.push(effect);
      } catch (error) {
        return failed(index, failureOf(error, connection));
      }
    }
    const broken = brokenReference(connection);
    if (broken) return failed(call.statements.length - 1, broken);
    const ms = Math.round((systemClock.monotonicMs() - startedMs) * 1000) / 1000;
    return { outcome: { k: "ok", r: results, ms, e: effects }, text };
  } finally {
    if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
    // What ran may have changed the schema, and the statements that were compiled for it are void.
    connection.schemaChanged();
  }
}

function effectOf(connection: Connection, call: WireCall, statement: WireStatement) {
  const [sql, , level] = statement;
  const schemaChange = level === "schema";
  const plan = schemaChange ? [] : planRows(connection, sql);
  const run = (one: WireStatement) =>
    runStatement({ connection, guardStatement: (work) => work() }, call, one);
  connection.internalRun("SAVEPOINT effect");
  const before = totalChanges(connection);
  const { json, rowCount } = run(statement);
  const all = totalChanges(connection) - before;
  const ownRows = schemaChange
    ? null
    : all === 0
    ? 0
    : Number(connection.internalRow("SELECT changes()")?.[0] ?? 0);
  const read = connection.rowsRead(sql, rowCount, all);
  let preview: WireEffect["preview"] = null;
  if (ownRows !== null && ownRows > 0 && ownRows <= MAX_PREVIEWED) {
    connection.internalRun("ROLLBACK TO effect");
    preview = previewOf(connection, statement, run);
    connection.internalRun("ROLLBACK TO effect");
    // What follows in a batch is to see it.
    run(statement);
  }
  connection.internalRun("RELEASE effect");
  const effect: WireEffect = {
    ownRows,
    cascadedRows: schemaChange ? 0 : all - (ownRows ?? 0),
    plan,
    preview,
  };
  return { json, read, effect };
}

/** Rows before and after, found by the keys that the statement itself returns. */
function previewOf(
  connection: Connection,
  [sql, params, level]: WireStatement,
  run: (statement: WireStatement) => { readonly json: string },
): WireEffect["preview"] {
  const found = targetOf(connection, sql);
  if (found === null) return null;
  const { table, keys, verb, end } = found;
  const quoted = keys.map((key) => `quote(${identifier(key)})`).join(" || ',' || ");
  const { rows }: { rows: [string][] } = JSON.parse(
    `${run([`${sql.slice(0, end)} RETURNING ${quoted}`, params, level]).json}}`,
  );
  const shown = rows.slice(0, PREVIEW_ROWS).map(([key]) => key);
  if (shown.length === 0) return null;
  const names = keys.map(identifier).join(", ");
  const select = `SELECT * FROM ${identifier(table)} WHERE (${names}) IN (VALUES ${
    shown.map((key) => `(${key})`).join(", ")
  }) ORDER BY ${names}`;
  const after = verb === "DELETE" ? [] : jsonRows(connection, select);
  connection.internalRun("ROLLBACK TO effect");
  const before = jsonRows(connection, select);
  const columns = connection.internalRows("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1", table);
  return { table, columns: columns.map(([name]) => String(name)), before, after };
}

/** The one table that an UPDATE or DELETE changes, its key, and where its text ends before RETURNING. */
function targetOf(connection: Connection, sql: string) {
  const tokens = planTokens(sql);
  const top = tokens.filter((token) => token.depth === 0);
  const verbAt = top.findIndex((token) => token.key === "UPDATE" || token.key === "DELETE");
  const first = top[0]?.key;
  if (verbAt < 0 || (verbAt > 0 && first !== "WITH")) return null;
  const verb = top[verbAt]?.key === "DELETE" ? "DELETE" : "UPDATE";
  let nameAt = verbAt + 1;
  while (["FROM", "OR", "ROLLBACK", "ABORT", "REPLACE", "FAIL", "IGNORE"].includes(top[nameAt]?.key ?? "")) {
    nameAt++;
  }
  if (top[nameAt + 1]?.key === ".") nameAt += 2;
  const schema = new PlanSchema(connection.database);
  const table = schema.tables().get(top[nameAt]?.text.toLowerCase() ?? "");
  const listed = table === undefined ? undefined : connection.internalRow(
    "SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
    table,
  );
  if (table === undefined || listed?.[0] !== "table") return null;
  const keys = listed[1] ? schema.primaryKey(table)?.columns ?? [] : [schema.rowIdColumn(table)];
  if (keys.length === 0 || keys.includes("")) return null;
  const returning = top.find((token) => token.key === "RETURNING");
  const last = top.findLast((token) => token.key !== ";");
  const end = returning ? returning.at : last ? endOf(sql, last.at, last.text) : sql.length;
  return { table, keys, verb, end };
}

/** Where a token ends: of a quoted name the text is without its quotes. */
function endOf(sql: string, at: number, text: string): number {
  const open = sql.charAt(at);
  if (!['"', "`", "["].includes(open)) return at + text.length;
  return at +
    (planTokens(sql.slice(at)).length === 1 ? sql.slice(at).trimEnd().length : quotedLength(sql.slice(at)));
}

function quotedLength(rest: string): number {
  const next = planTokens(rest)[1];
  return next ? next.at : rest.length;
}

function jsonRows(connection: Connection, select: string): WireValue[][] {
  return connection.internalRows(select).map((row) => row.map((value) => jsonValue(value, false)));
}

function planRows(connection: Connection, sql: string): WireValue[][] {
  try {
    return jsonRows(connection, `EXPLAIN QUERY PLAN ${sql}`);
  } catch {
    return [];
  }
}

/** Deferred constraints are judged at commit, which a dry run never reaches. */
function brokenReference(connection: Connection): WireFailure | null {
  const deferred = connection.internalRow(
    "SELECT 1 FROM sqlite_schema WHERE sql LIKE '%INITIALLY%DEFERRED%' LIMIT 1",
  );
  if (!deferred) return null;
  const broken = connection.internalRow('SELECT "table" FROM pragma_foreign_key_check LIMIT 1');
  if (!broken) return null;
  return {
    kind: "foreign_key_violation",
    message: "FOREIGN KEY constraint failed",
    table: String(broken[0]),
    columns: [],
  };
}

function totalChanges(connection: Connection): number {
  return Number(connection.internalRow("SELECT total_changes()")?.[0] ?? 0);
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
