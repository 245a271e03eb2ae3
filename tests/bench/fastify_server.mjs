// The do-it-yourself choice, for Node.js: Fastify and better-sqlite3 in one process, as the yardstick has it, with
// durable commits. Arguments: port, database path.
import { createRequire } from "node:module";

// Its packages stand in the folder where it is started.
const require = createRequire(`${process.cwd()}/package.json`);
const fastify = require("fastify");
const Database = require("better-sqlite3");

const [port, path] = process.argv.slice(2);
const database = new Database(path);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
const prepared = new Map();

function run({ sql, params = [] }) {
  let entry = prepared.get(sql);
  if (!entry) {
    const statement = database.prepare(sql);
    entry = { statement, columns: statement.reader ? statement.columns().map(({ name }) => name) : null };
    if (statement.reader) statement.raw(true);
    prepared.set(sql, entry);
  }
  const { statement, columns } = entry;
  if (columns) return { columns, rows: statement.all(...params) };
  return { columns: [], rows: [], changes: statement.run(...params).changes };
}

const app = fastify({ bodyLimit: 1 << 25 });
const together = database.transaction((statements) => statements.map(run));
app.post("/query", (request) => run(request.body));
app.post("/batch", (request) => together.immediate(request.body.statements));
app.get("/healthz", () => ({ ok: true }));
await app.listen({ port: Number(port), host: "127.0.0.1" });
