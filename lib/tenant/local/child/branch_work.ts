// Answers the requests of branch work: each statement runs at once, on the connection of its side.
import type { StatementSync } from "node:sqlite";
import { PLAIN_ROWS } from "../../../sql/words/row_form.ts";
import type { TrialDatabase } from "../../branches/trial_database.ts";
import type { Answer, Ask, AskedStatement, Side, Work } from "../../branches/work.ts";
import { arrayRows, arrayStatement } from "../../../engine/array_rows.ts";
import { Connection } from "../../../engine/connection.ts";
import { runFailure } from "../../../engine/engine_failure.ts";
import { ENGINE_LIMITS } from "../../../engine/engine_limits.ts";
import { runWork } from "../../../core/run_work.ts";

/** Prepared statements cached for one piece of work. */
const CACHED_STATEMENTS = 100;

/** Runs the work to its end. */
export function runBranchWork<T>(
  work: Work<T>,
  connections: Readonly<Partial<Record<Side, Connection>>>,
): T {
  const prepared = new Map<string, StatementSync>();
  return runWork(work, ({ of, statements, each, level }: Ask): Answer[] => {
    if (statements.length === 0) return [];
    const connection = connections[of];
    if (!connection) throw new TypeError(`nothing is open as the ${of}`);
    const { database } = connection;
    const inTransaction = database.isTransaction;
    return statements.map((statement) => {
      try {
        if (level === "schema") return runSchemaChange(connection, statement);
        const rows = withRowid(
          connection,
          () => arrayRows(prepare(prepared, connection, of, statement.sql).all(...statement.params)),
        );
        return { ok: true, rows };
      } catch (error) {
        // After the transaction has ended nothing may run.
        if (each === "must" || database.isTransaction !== inTransaction) throw error;
        return { ok: false, failure: runFailure(error, connection.guard.denial, statement.sql), error };
      }
    });
  });
}

function runSchemaChange(connection: Connection, { sql }: AskedStatement): Answer {
  connection.schemaChanged();
  connection.run("schema", sql, [], { maxRows: 0, maxBytes: 0 }, PLAIN_ROWS);
  return { ok: true, rows: [] };
}

function prepare(
  prepared: Map<string, StatementSync>,
  connection: Connection,
  of: Side,
  sql: string,
): StatementSync {
  const key = `${of} ${sql}`;
  let statement = prepared.get(key);
  if (!statement) {
    if (prepared.size >= CACHED_STATEMENTS) prepared.clear();
    statement = arrayStatement(connection.database, sql, { big: true });
    prepared.set(key, statement);
  }
  return statement;
}

/**
 * Reads the rowid beside all columns of a table, which may have as many as a result. The engine may compile a statement once more
 * when it runs.
 */
function withRowid<T>({ database: { limits } }: Connection, read: () => T): T {
  limits.column = ENGINE_LIMITS.column + 1;
  try {
    return read();
  } finally {
    limits.column = ENGINE_LIMITS.column;
  }
}

/** Opens an empty database in memory. */
export function openTrial(): TrialDatabase {
  const connection = new Connection(":memory:");
  return {
    exec: (sql) => connection.database.exec(sql),
    internalRows: (sql, ...params) => connection.internalRows(sql, ...params),
    close: () => connection.close(),
  };
}
