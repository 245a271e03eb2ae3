// The yardstick: the smallest honest SQL-over-HTTP handler (Hono, SQLite in the same process, durable commits). It has
// no tenants, no roles, no limits, no log: what it does per second is what this machine allows at most.
// Arguments: port, database path.
import { Hono } from "hono";
import { DatabaseSync, type StatementSync } from "node:sqlite";

interface Statement {
  readonly sql: string;
  readonly params?: readonly (string | number | null)[];
}

const [port, path] = Deno.args;
if (path === undefined) throw new TypeError("port and database path are needed");
const database = new DatabaseSync(path);
database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
const prepared = new Map<string, { statement: StatementSync; columns: (string | null)[] }>();

function run({ sql, params = [] }: Statement) {
  let entry = prepared.get(sql);
  if (!entry) {
    const statement = database.prepare(sql);
    Reflect.apply(Reflect.get(statement, "setReturnArrays"), statement, [true]);
    entry = { statement, columns: statement.columns().map((column) => column.name) };
    prepared.set(sql, entry);
  }
  return { columns: entry.columns, rows: entry.statement.all(...params) };
}

const app = new Hono()
  .post("/query", async (c) => c.json(run(await c.req.json())))
  .post("/batch", async (c) => {
    const { statements }: { statements: Statement[] } = await c.req.json();
    database.exec("BEGIN IMMEDIATE");
    try {
      const results = statements.map(run);
      database.exec("COMMIT");
      return c.json(results);
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  })
  .get("/healthz", (c) => c.json({ ok: true }));

Deno.serve({ hostname: "127.0.0.1", port: Number(port), onListen: () => {} }, app.fetch);
