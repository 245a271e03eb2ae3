// Checks of users tables: passwords that are no hashes, and addresses that differ by case alone.
import { foldingOf } from "../../../sql/schema/case_folding.ts";
import { foldName, sameName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import type { TableFacts } from "../schema_facts.ts";
import { type Examined, type Found, probeKey } from "./examined.ts";
import { rowIdOf } from "./rebuild_table.ts";
import { freeName } from "./suggestions.ts";

/** The columns of a users table, as its schema spells them; null: it is none. */
export interface UsersColumns {
  readonly email: string;
  readonly hash: string;
}

/** What people log in by: a table with an address and a hash. */
export function usersColumns({ kind, columns }: TableFacts): UsersColumns | null {
  const named = (wanted: string) =>
    columns.find(({ name, generated }) => !generated && foldName(name) === wanted)?.name;
  const [email, hash] = [named("email"), named("password_hash")];
  return kind !== "table" || email === undefined || hash === undefined ? null : { email, hash };
}

/** Whether a value of the column is no hash that this service reads. Empty: the user has no password. */
export function isNoHash(column: string): string {
  const name = quoteIdentifier(column);
  return `${name} <> '' AND ${name} NOT GLOB 'pbkdf2_sha256$[1-9]*$?*$?*'`;
}

/** Values that let nobody in, and may be passwords as they were typed. */
export function plainPassword({ schema, rows }: Examined): Found[] {
  return schema.tables.flatMap((table) => {
    const users = usersColumns(table);
    if (users === null || !rows.plain.has(table.name)) return [];
    return [{
      table: table.name,
      column: users.hash,
      message:
        `Empty what is no hash in ${users.hash} of ${table.name}: nobody logs in by it, and it may be a ` +
        "password; those users set another by a reset",
      suggestion: `UPDATE ${quoteIdentifier(table.name)} SET ${quoteIdentifier(users.hash)} = '' ` +
        `WHERE ${isNoHash(users.hash)}`,
    }];
  });
}

/** Addresses that several accounts have, and addresses that no index keeps from it. */
export function emailCase(examined: Examined): Found[] {
  return examined.schema.tables.flatMap((table) => {
    const users = usersColumns(table);
    if (users === null) return [];
    const found = { table: table.name, column: users.email };
    const [name, email] = [quoteIdentifier(table.name), quoteIdentifier(users.email)];
    const rowId = rowIdOf(table);
    if (examined.rows.duplicates.has(probeKey(table.name, `lower(${users.email})`))) {
      // The oldest keeps the address; nothing is lost of the others but their way in.
      return rowId === null ? [] : [{
        ...found,
        message:
          `Give accounts of ${table.name} addresses that differ by more than case: only the one that is ` +
          "spelled as typed is found; the suggestion renames all but the oldest",
        suggestion:
          `UPDATE ${name} SET ${email} = ${email} || '.' || ${rowId} WHERE EXISTS (SELECT 1 FROM ${name} AS o ` +
          `WHERE lower(o.${email}) = lower(${name}.${email}) AND o.${rowId} < ${name}.${rowId})`,
      }];
    }
    if (hasIndex(examined, table, users)) return [];
    const index = freeName(examined.takenNames, `${table.name}_${users.email}_lower`);
    return [{
      ...found,
      message:
        `Make ${users.email} of ${table.name} unique whatever its case: then one address is one account`,
      suggestion: `CREATE UNIQUE INDEX ${quoteIdentifier(index)} ON ${name} (lower(${email}))`,
    }];
  });
}

function hasIndex({ indexes, sources }: Examined, table: TableFacts, { email }: UsersColumns): boolean {
  const folds = (indexes.get(table.name) ?? []).some(({ unique, partial, columns }) =>
    unique && !partial && columns.length === 1 && sameName(columns[0]?.name ?? "", email) &&
    /^nocase$/i.test(columns[0]?.collation ?? "")
  );
  const texts = sources.get(table.name)?.indexesAndTriggers ?? [];
  return folds || texts.some((sql) => foldingOf(sql, email) !== null);
}
