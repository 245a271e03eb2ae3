// Finds views, triggers and virtual tables that cannot be used, because what they are made of is gone. Views and triggers
// are compiled, and nothing of them runs.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { isReservedName } from "../../../sql/service_tables.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { TenantDatabase } from "../../../tenant/tenant_store.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { SchemaFacts } from "../schema_facts.ts";
import type { BrokenObject } from "./examined.ts";

/** A row of the catalogue. */
export interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly sql: string;
}

/** Broken ones that one examination looks for: each takes another call to the engine. */
const MAX_BROKEN = 50;

/** Failures that say nothing of the object. */
const OTHER_FAILURES: ReadonlySet<EngineFailure["kind"]> = new Set([
  "timeout",
  "unavailable",
  "busy",
  "full",
]);

/** Errors: those of the store. */
export async function findBroken(
  ctx: StatementsContext,
  schema: SchemaFacts,
  objects: readonly SchemaObject[],
): Promise<BrokenObject[]> {
  const tables = schema.tables.flatMap(({ name, error }): BrokenObject[] =>
    // Without its constructor or its module a table has no columns, and DROP wants one.
    error === null ? [] : [{ type: "table", name, table: name, error, stuck: isStuck(error) }]
  );
  const uses = [...viewUses(objects), ...triggerUses(schema, objects)];
  if (uses.length === 0) return tables;
  const database = ctx.tenants.open(ctx.target.databaseId, ctx.target.namespaceId);
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

/** A statement that needs the object, and what is broken where it does not compile. */
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

/** Whatever is written to a table with triggers; one of them is to blame where it names what is missing. */
function triggerUses({ tables }: SchemaFacts, objects: readonly SchemaObject[]): Use[] {
  const triggers = objects.filter(({ type, name }) => type === "trigger" && !isReservedName(name));
  return [...Map.groupBy(triggers, ({ table }) => foldName(table))].flatMap(([folded, standing]): Use[] => {
    const [first] = standing;
    if (first === undefined) return [];
    const name = quoteIdentifier(first.table);
    const column = tables.find((one) => foldName(one.name) === folded)?.columns.find((one) => !one.generated);
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

/** Of each statement why it does not compile, or null. */
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
