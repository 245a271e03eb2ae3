// Texts of suggestions: calls of this service in a form that can be run as it stands (`METHOD path body`), and new
// names.
import { splitAddress } from "../../../access/resolve_target.ts";
import { foldName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import type { TableFacts } from "../schema_facts.ts";
import type { TargetPath } from "../../../access/resolve_target.ts";

/** A call under `/v1/db/:ns/:db/`. */
export function databaseCall(address: TargetPath, method: string, operation: string, body: unknown): string {
  return `${method} /v1/db/${address.namespaceSlug}/${address.databasePath}/${operation} ${
    JSON.stringify(body)
  }`;
}

/** A batch that runs all statements or none. */
export function batchCall(address: TargetPath, statements: readonly string[]): string {
  return databaseCall(address, "POST", "batch", {
    statements: statements.map((sql) => ({ sql })),
    transaction: true,
  });
}

/** A call about one endpoint; `rest` follows its slug. */
export function endpointCall(address: TargetPath, method: string, rest: string, body?: unknown): string {
  return databaseApiCall(address, method, `endpoints/${rest}`, body);
}

/** A call under `/api/namespaces/:slug/databases/:dbSlug/`. */
export function databaseApiCall(address: TargetPath, method: string, rest: string, body?: unknown): string {
  const { slug } = splitAddress(address.databasePath);
  const path = `/api/namespaces/${address.namespaceSlug}/databases/${slug}/${rest}`;
  return body === undefined ? `${method} ${path}` : `${method} ${path} ${JSON.stringify(body)}`;
}

/** What was found to be free: a schema may have thousands of such names, and ask for the same one as often. */
const free = new WeakMap<ReadonlySet<string>, Map<string, string>>();

/**
 * A name that nothing has yet: `wanted`, or the first of `wanted_2`, `wanted_3`, … that is free. `taken` holds folded
 * names, to which none is added.
 */
export function freeName(taken: ReadonlySet<string>, wanted: string): string {
  const known = free.get(taken) ?? new Map<string, string>();
  free.set(taken, known);
  let name = known.get(wanted) ?? wanted;
  for (let number = 2; taken.has(foldName(name)); number++) name = `${wanted}_${number}`;
  known.set(wanted, name);
  return name;
}

const ofColumns = new WeakMap<TableFacts, ReadonlySet<string>>();

/** The folded names of its columns. */
export function columnNames(table: TableFacts): ReadonlySet<string> {
  const names = ofColumns.get(table) ?? new Set(table.columns.map((one) => foldName(one.name)));
  ofColumns.set(table, names);
  return names;
}

/**
 * The statement that renames a column by putting the table's name in front. Views, triggers and indexes follow by
 * themselves.
 */
export function renameColumn(table: TableFacts, column: string): string {
  const name = freeName(columnNames(table), `${table.name}_${column}`);
  return `ALTER TABLE ${quoteIdentifier(table.name)} RENAME COLUMN ${quoteIdentifier(column)} TO ${
    quoteIdentifier(name)
  }`;
}
