// With foreign keys off nothing is lost where a table is put aside by a RENAME, made anew and dropped, but what refers to it goes
// on to refer to the one that was put aside, and cannot be written any more.
import { AppError } from "../core/errors.ts";
import { FormerNames } from "../sql/grammar/former_names.ts";
import { foldName } from "../sql/words/names.ts";
import { copyFirst } from "./authorise.ts";
import type { QueryStatement, UnderstoodCall } from "./query_call.ts";

const REFERRING =
  "SELECT DISTINCT t.name FROM pragma_table_list t, pragma_foreign_key_list(t.name) f WHERE t.schema = 'main' AND lower(f.\"table\") = ?";

/** A table that is dropped under another name than it had, which another one has by then. */
export interface PutAside {
  /** Of the statement that drops it. */
  readonly index: number;
  /** The name that it had before the call, and the one that is given again, folded. */
  readonly table: string;
  readonly replaced: string;
  /** The names that all dropped tables had before the call, folded: what these refer to does not matter. */
  readonly gone: ReadonlySet<string>;
}

/** The first one of a call that drops something and has foreign keys off; null: there is none. */
export function putAside({ call, facts }: UnderstoodCall): PutAside | null {
  // Files that are decided about together are looked at one by one when they run.
  if (call.migrations) return null;
  if (!facts.some(({ pragma }) => pragma?.foreignKeysOff === true)) return null;
  const names = new FormerNames();
  const gone = new Set<string>();
  let first: PutAside | null = null;
  for (const [index, one] of facts.entries()) {
    names.follow(one);
    if (one.schemaRows?.rows?.side !== "before") continue;
    const { table } = one.schemaRows.rows;
    gone.add(names.first(table));
    const replaced = names.replaced(table);
    if (replaced !== null) first ??= { index, table: names.first(table), replaced, gone };
  }
  return first;
}

/** Refuses the call where a table that stays refers to it. `read`: the result of a statement, as JSON text. Errors: `migration_loses_rows`. */
export async function refuseReferred(
  { index, table, replaced, gone }: PutAside,
  read: (statement: QueryStatement) => Promise<string>,
): Promise<void> {
  const json = await read({ sql: REFERRING, params: [table] });
  const { rows }: { readonly rows: readonly (readonly unknown[])[] } = JSON.parse(`${json}}`);
  const referring = rows.map(([name]) => String(name)).filter((name) => !gone.has(foldName(name)));
  if (referring.length === 0) return;
  throw new AppError("migration_loses_rows", {
    message:
      `${
        copyFirst(replaced)
      }; put aside first, it takes along what refers to it, and its DROP TABLE would leave ` +
      `${referring.sort().join(", ")} with references to no table`,
    extra: { failedIndex: index },
  });
}
