// Reads the schema of a location, whose tables of the service are in the form of this version then.
import { SHADOW_TABLES } from "../../../sql/words/names.ts";
import { serviceSchemaQuery, upgradeStatements } from "../../../sql/words/service_tables.ts";
import type { TenantSchema } from "../gate/compiled_schema.ts";
import type { StepResult } from "../hrana/hrana.ts";
import { integerOf, stringOf } from "../hrana/remote_values.ts";
import { chain, ownTransaction } from "../hrana/step_list.ts";
import { type RemoteContext, rowsAt, runOwn } from "../server/remote_context.ts";
import { VERSION } from "./write_steps.ts";

/** What is asked of the schema; `schemaOf` reads the answers. */
export const SCHEMA_STEPS = [
  VERSION,
  "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' " +
  "AND name NOT LIKE 'libsql!_%' ESCAPE '!' " +
  `AND name NOT IN (${SHADOW_TABLES}) ` +
  "ORDER BY type = 'trigger', type = 'view', type = 'index', rowid",
  "SELECT name FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_sequence')",
].map((sql) => ({ stmt: { sql } }));
const SCHEMA = [{ stmt: { sql: "BEGIN" } }, ...SCHEMA_STEPS, { stmt: { sql: "COMMIT" } }];

/** Throws `RemoteFailure`. */
export async function readSchema(context: RemoteContext, location: string): Promise<TenantSchema> {
  return schemaOf((await readCurrent(context, location)).slice(1));
}

/** Throws `RemoteFailure` where a step was not answered. */
export function schemaOf(steps: readonly StepResult[]): TenantSchema {
  const made = rowsAt(steps, 2).map(([name]) => stringOf(name));
  return {
    engineVersion: integerOf(rowsAt(steps, 0)[0]?.[0]),
    statements: rowsAt(steps, 1).map((row) => stringOf(row[0])),
    analyzed: made.includes("sqlite_stat1"),
    numbered: made.includes("sqlite_sequence"),
  };
}

async function readCurrent(context: RemoteContext, location: string): Promise<readonly StepResult[]> {
  const read = () => runOwn(context, { location, mode: "read" }, SCHEMA);
  const steps = await read();
  const isOld = upgradeStatements(rowsAt(steps, 2).map(([sql]) => stringOf(sql))).length > 0;
  return isOld && await upgradeTables(context, location) ? await read() : steps;
}

/** Texts of all that a schema consists of, the service's own and the engine's among them. Throws `RemoteFailure`. */
export async function schemaTexts(context: RemoteContext, location: string): Promise<string[]> {
  const sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL";
  const steps = await runOwn(context, { location, mode: "read" }, [{ stmt: { sql } }]);
  return rowsAt(steps, 0).map((row) => stringOf(row[0]));
}

/** Brings the service's own tables to the form of this version. True when something was to be done. Throws `RemoteFailure`. */
export async function upgradeTables(context: RemoteContext, location: string): Promise<boolean> {
  const missing = await missingIn(context, location);
  if (missing.length === 0) return false;
  const { steps, commit } = ownTransaction((list) => {
    for (const sql of missing) chain(list, sql);
  });
  const results = await runOwn(context, { location, mode: "write" }, steps);
  // Another instance may have been faster; then all of it is there.
  if (!results[commit]?.ok && (await missingIn(context, location)).length > 0) rowsAt(results, commit);
  return true;
}

async function missingIn(context: RemoteContext, location: string): Promise<string[]> {
  const steps = await runOwn(context, { location, mode: "read" }, [{ stmt: { sql: serviceSchemaQuery } }]);
  return upgradeStatements(rowsAt(steps, 0).map(([sql]) => stringOf(sql)));
}
