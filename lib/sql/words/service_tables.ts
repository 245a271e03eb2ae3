// The service's own tables in every tenant database, and which of them a tenant may read.

/** Names with one of these prefixes belong to the service or the engine: no tenant may create or write them. */
const RESERVED_PREFIXES = ["sqlite_", "_service_meta_"] as const;

/** Whether a tenant may neither create nor write this name, in any case. */
export function isReservedName(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix));
}

/** The names of all tables with rows in a database, also the service's and the engine's. */
export const ownTablesQuery =
  "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')";

/** Whether this is one of the service's own tables. */
export function isServiceTable(name: string): boolean {
  return name.toLowerCase().startsWith("_service_meta_");
}

/**
 * Whether the engine answers under this name by itself, and the service asks it there. One of the schema would answer in its
 * place: what is foreseen, shown, compared or held would be what its maker says.
 */
export function isEngineTable(name: string): boolean {
  return /^(?:pragma_|json_(?:each|tree)$)/i.test(name);
}

/** Service tables that a reader may select from; all others are closed to tenants. */
export const readableServiceTables: ReadonlySet<string> = new Set([
  "_service_meta_query_log",
  "_service_meta_endpoint_call",
  "_service_meta_audit",
  "_service_meta_description",
  "_service_meta_change",
  "_service_meta_migration",
]);

/** Those of them whose rows may still wait to be written. */
export const bufferedServiceTables: ReadonlySet<string> = new Set([
  "_service_meta_query_log",
  "_service_meta_endpoint_call",
]);

/** Statements that create the tables that an older version of the service has not made. */
const addedTables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS _service_meta_change (
  seq INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, at INTEGER NOT NULL, tables TEXT NOT NULL, kinds INTEGER NOT NULL,
  rows INTEGER NOT NULL
)`,
  `CREATE TABLE IF NOT EXISTS _service_meta_migration (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL,
  token_id TEXT NOT NULL, snapshot TEXT, ran INTEGER NOT NULL, objects TEXT
)`,
];

/**
 * Statements that create the tables and can be repeated. Ids sort by time and the tables are ordered by id, so a new
 * row is appended at the right edge of a b-tree, and pruning removes a range at the left.
 */
export const serviceTableStatements: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS _service_meta_query_log (
  id TEXT PRIMARY KEY, ts INTEGER NOT NULL, namespace_id TEXT NOT NULL, db_id TEXT NOT NULL, token_id TEXT NOT NULL,
  user_id TEXT, operation TEXT NOT NULL, status TEXT NOT NULL, error_kind TEXT, rows_read INTEGER NOT NULL,
  rows_written INTEGER NOT NULL, duration_ms REAL NOT NULL, statement_count INTEGER NOT NULL, sql TEXT NOT NULL
) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS _service_meta_endpoint_call (
  id TEXT PRIMARY KEY, ts INTEGER NOT NULL, endpoint TEXT NOT NULL, status TEXT NOT NULL, http_status INTEGER NOT NULL,
  rows_read INTEGER NOT NULL, rows_written INTEGER NOT NULL, duration_ms REAL NOT NULL, user_id TEXT, ip_hash TEXT,
  code TEXT, hits TEXT, count INTEGER NOT NULL DEFAULT 1
) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS _service_meta_audit (
  id TEXT PRIMARY KEY, ts INTEGER NOT NULL, token_id TEXT NOT NULL, user_id TEXT, operation TEXT NOT NULL,
  tables TEXT NOT NULL, rows_written INTEGER NOT NULL, query_log_id TEXT NOT NULL
) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS _service_meta_description (
  table_name TEXT NOT NULL, column_name TEXT NOT NULL, description TEXT NOT NULL, PRIMARY KEY (table_name, column_name)
) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS _service_meta_replay (
  id INTEGER PRIMARY KEY, probe INTEGER NOT NULL, key TEXT NOT NULL, piece INTEGER NOT NULL,
  request_hash TEXT NOT NULL, answer TEXT NOT NULL, expires_at INTEGER NOT NULL
)`,
  "CREATE INDEX IF NOT EXISTS _service_meta_replay_probe ON _service_meta_replay(probe)",
  ...addedTables,
];

/** The tables that these statements make. */
export const ownServiceTables: ReadonlySet<string> = new Set(
  serviceTableStatements.flatMap((text) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(text)?.[1] ?? []),
);

/** Statements that add columns to tables of an older version. */
const addedColumns: readonly string[] = [
  "ALTER TABLE _service_meta_endpoint_call ADD COLUMN code TEXT",
  "ALTER TABLE _service_meta_endpoint_call ADD COLUMN hits TEXT",
  "ALTER TABLE _service_meta_endpoint_call ADD COLUMN count INTEGER NOT NULL DEFAULT 1",
];

/** Asks for the texts of the service's tables. */
export const serviceSchemaQuery =
  "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name GLOB '_service_meta_*'";

/**
 * Statements that bring tables of an older version to this version's form, in one transaction. `createTexts` are those
 * of a schema. Nothing is to be done where there are none of the service's: they are still to be made.
 */
export function upgradeStatements(createTexts: readonly string[]): string[] {
  const calls = createTexts.find((text) => creates(text, "_service_meta_endpoint_call"));
  if (calls === undefined) return [];
  const missing = addedTables.filter((text) => {
    const name = /EXISTS (\w+)/.exec(text)?.[1] ?? "";
    return !createTexts.some((one) => creates(one, name));
  });
  return [...(/\bcount INTEGER\b/.test(calls) ? [] : addedColumns), ...missing];
}

function creates(createText: string, name: string): boolean {
  return new RegExp(`^CREATE TABLE "?${name}\\b`).test(createText);
}

/** Follows `INSERT INTO _service_meta_endpoint_call`: an existing row is replaced by one with a higher count. */
export const REPLACE_COUNTED =
  "ON CONFLICT (id) DO UPDATE SET count = excluded.count, duration_ms = excluded.duration_ms, " +
  "user_id = excluded.user_id, ip_hash = excluded.ip_hash WHERE excluded.count > count";
