// Finds views, triggers and virtual tables that cannot be used because what they are made of is missing. Views and
// triggers are compiled, and nothing runs.
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import { foldName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { isReservedName } from "../../../sql/words/service_tables.ts";
import type { TenantDatabase } from "../../../tenant/tenant_store.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import type { BrokenObject, Examined, Found } from "./examined.ts";

/** A row of `sqlite_schema`. */
export interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly sql: string;
}

/** How many broken objects one examination looks for: each takes another call to the engine. */
const MAX_BROKEN = 50;

/** Failures that are not about the object. */
const OTHER_FAILURES: ReadonlySet<EngineFailure["kind"]> = new Set([
  "timeout",
  "unavailable",
  "busy",
  "full",
]);

/** All objects that cannot be used. Errors: those of the store. */
export async function findBroken(
  ctx: StatementsContext,
  { schema, byName }: Pick<Examined, "schema" | "byName">,
  objects: readonly SchemaObject[],
): Promise<BrokenObject[]> {
  const tables = schema.tables.flatMap(({ name, error }): BrokenObject[] =>
    // Without its module a table has no columns, and DROP needs the module too.
    error === null ? [] : [{ type: "table", name, table: name, error, stuck: isStuck(error) }]
  );
  const uses = [...viewUses(objects), ...triggerUses(byName, objects)];
  if (uses.length === 0) return tables;
  const database = ctx.tenants.open(ctx.target);
  const failures = await compileEach(database, uses.map(({ sql }) => sql));
  const found = new Map<string, BrokenObject>();
  for (const [at, failure] of failures.entries()) {
    const broken = failure === null ? null : uses[at]?.blame(failure) ?? null;
    if (broken) found.set(`${broken.type} ${broken.name}`, broken);
  }
  return [...tables, ...found.values()];
}

function isStuck(error: string): boolean {
  return /^(?:no such module|vtable constructor failed)/.test(error);
}

/** A statement that uses the object, and what is broken when it does not compile. */
interface Use {
  readonly sql: string;
  readonly blame: (failure: EngineFailure) => BrokenObject | null;
}

function viewUses(objects: readonly SchemaObject[]): Use[] {
  return objects.filter(({ type, name }) => type === "view" && !isReservedName(name)).map(({ name }) => ({
    sql: `SELECT * FROM ${quoteIdentifier(name)}`,
    blame: ({ message }) => ({ type: "view", name, table: name, error: message, stuck: false }),
  }));
}

/**
 * Statements that write to a table with triggers. When one fails, the trigger that names the missing object is
 * broken.
 */
function triggerUses(byName: Examined["byName"], objects: readonly SchemaObject[]): Use[] {
  const triggers = objects.filter(({ type, name }) => type === "trigger" && !isReservedName(name));
  return [...Map.groupBy(triggers, ({ table }) => foldName(table))].flatMap(([folded, standing]): Use[] => {
    const [first] = standing;
    if (first === undefined) return [];
    const name = quoteIdentifier(first.table);
    const column = byName.get(folded)?.columns.find((one) => !one.generated);
    const set = column && `${quoteIdentifier(column.name)} = ${quoteIdentifier(column.name)}`;
    const texts = [`INSERT INTO ${name} DEFAULT VALUES`, `DELETE FROM ${name}`];
    if (set !== undefined) texts.push(`UPDATE ${name} SET ${set}`);
    return texts.map((sql) => ({ sql, blame: (failure) => blamed(standing, failure) }));
  });
}

function blamed(
  triggers: readonly SchemaObject[],
  { message, table, columns }: EngineFailure,
): BrokenObject | null {
  const missing = (table ?? columns[0])?.toLowerCase();
  if (missing === undefined) return null;
  const trigger = triggers.find(({ sql }) => sql.toLowerCase().includes(missing));
  if (trigger === undefined) return null;
  return { type: "trigger", name: trigger.name, table: trigger.table, error: message, stuck: false };
}

/** Why each statement does not compile; null where it does. */
async function compileEach(
  database: TenantDatabase,
  texts: readonly string[],
): Promise<(EngineFailure | null)[]> {
  const found: (EngineFailure | null)[] = [];
  for (let broken = 0; found.length < texts.length && broken < MAX_BROKEN; broken++) {
    const rest = texts.slice(found.length).map((sql) => ({ sql, changesSchema: false }));
    const { facts, failure } = await database.inspect(rest);
    found.push(...facts.map(() => null));
    if (failure === null || OTHER_FAILURES.has(failure.kind)) break;
    found.push(failure);
  }
  return found;
}

/** The finding for each object that cannot be used because what it is made of is missing. */
export function brokenObject({ broken, address }: Examined): Found[] {
  return broken.map((one) => ({
    table: one.table,
    column: null,
    message: `${one.stuck ? "Restore a snapshot from before" : "Bring back what is missing, or drop"} the ${
      wordsFor(one)
    }, which cannot be used: ${one.error}`,
    suggestion: one.stuck
      ? `GET /v1/db/${address.namespaceSlug}/${address.databasePath}/snapshots`
      : `DROP ${one.type.toUpperCase()} ${quoteIdentifier(one.name)}`,
  }));
}

function wordsFor({ type, name, table }: BrokenObject): string {
  return type === "trigger" ? `trigger ${name} of ${table}` : `${type} ${name}`;
}
