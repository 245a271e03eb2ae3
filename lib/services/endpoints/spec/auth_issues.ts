// Whether a sign-up or log-in fits the users table that it names: a key that sessions can carry, one account for each
// address, and a statement that writes and shows the right columns.
import { EMAIL_COLUMN } from "../../../access/mint_session.ts";
import type { Issue } from "../../../core/errors.ts";
import { insertShape } from "../../../sql/grammar/insert_shape.ts";
import { foldName, sameName } from "../../../sql/words/names.ts";
import { shownColumns } from "../../../sql/grammar/result_columns.ts";
import { affinityOf } from "../../../sql/words/sql_value.ts";
import type { StatementFacts } from "../../../sql/grammar/statement_facts.ts";
import type { SchemaNames } from "../../../tenant/inspection.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { readTable, type TableDefinition } from "../../schema/read_table.ts";
import { bindInputs } from "./bind_inputs.ts";
import { emailIndex, readEmailIndexes } from "./email_indexes.ts";
import { mailIssues } from "./mail_issues.ts";
import type { SpecParts } from "./spec_parts.ts";
import { keyColumn, PASSWORD_COLUMN, shownIndex } from "./users_table.ts";

interface Known {
  /** Of the database, without the service's own. */
  readonly tables: SchemaNames["tables"];
  readonly facts: StatementFacts | null;
}

/** One issue for each thing that does not fit. Errors: those of the pipeline. */
export async function authIssues(ctx: StatementsContext, spec: SpecParts, known: Known): Promise<Issue[]> {
  const { kind, authConfig, sql } = spec;
  if (authConfig === undefined || kind === undefined || !kind.startsWith("auth_")) return [];
  const users = await readTable(ctx, authConfig.usersTable);
  if (users === null || users.kind !== "table") {
    return [{ path: "authConfig.usersTable", message: "Name a table of this database" }];
  }
  const email = columnOf(users, authConfig.emailColumn ?? EMAIL_COLUMN);
  const key = keyColumn(users);
  const issues = [
    ...keyIssues(users, key),
    ...(email === null
      ? [{ path: "authConfig.emailColumn", message: "Name a column of the users table" }]
      : await uniqueIssues(ctx, users.name, email)),
    ...(columnOf(users, PASSWORD_COLUMN) === null
      ? [{
        path: "authConfig.passwordColumn",
        message: `Add the column ${PASSWORD_COLUMN} to the users table`,
      }]
      : []),
    ...mailIssues(spec, (name) => ![null, key].includes(columnOf(users, name))),
  ];
  const { facts } = known;
  if (facts === null || sql === undefined || issues.length > 0 || key === null || email === null) {
    return issues;
  }
  if (kind !== "auth_signup" && kind !== "auth_login") return [];
  const found = kind === "auth_signup"
    ? signupFault(spec, users, { facts, key, email })
    : loginFault(sql, users, { ...known, facts, key });
  return found === null ? [] : [{ path: "sql", message: found }];
}

function keyIssues({ columns }: TableDefinition, key: string | null): Issue[] {
  const type = columns.find(({ name }) => name === key)?.declaredType;
  const path = "authConfig.usersTable";
  if (type === undefined || key === null || foldName(key) === PASSWORD_COLUMN) {
    const message = "Give the users table a primary key of one column; sessions name their user by it";
    return [{ path, message }];
  }
  // A column without a type may hold keys of any kind.
  if (type === "" || affinityOf(type) !== "BLOB") return [];
  return [{ path, message: `Declare ${key} INTEGER or TEXT; a session cannot name its user by a blob` }];
}

async function uniqueIssues(ctx: StatementsContext, table: string, email: string): Promise<Issue[]> {
  if ((await readEmailIndexes(ctx, { table, email })).unique) return [];
  return [{
    path: "authConfig.emailColumn",
    message: `Make this column unique: ${emailIndex({ table, email })}`,
  }];
}

interface Statement {
  readonly facts: StatementFacts;
  readonly key: string;
}

function signupFault(
  { kind, sql = "", input }: SpecParts,
  users: TableDefinition,
  { facts, key, email }: Statement & { readonly email: string },
): string | null {
  const listed = users.columns.filter(({ generated }) => !generated).map(({ name }) => name);
  const bound = bindInputs({ kind, sql, input });
  const { sql: text, inputs } = (bound.ok ? bound.statements[0] : undefined) ?? { sql, inputs: [] };
  const shape = insertShape(text, listed);
  if (shape === null || facts.verb !== "insert" || !sameName(facts.target ?? "", users.name)) {
    return "Write an INSERT into the users table";
  }
  // Otherwise whoever signs up with a stranger's address would get the stranger's row and set its password.
  if (shape.updates) return "Remove DO UPDATE; a sign-up must not change an account that is there";
  if (facts.replacedTables.some((table) => sameName(table, users.name))) {
    return "Write INSERT OR ABORT; a conflict of the users table would replace an account that is there";
  }
  for (const [name, column] of [["email", email], ["password", PASSWORD_COLUMN]] as const) {
    const at = input?.findIndex((field) => field?.name === name) ?? -1;
    const into = shape.placeholders.filter(({ parameter }) => inputs[parameter] === at)
      .map(({ column }) => column)
      .find((into) => into !== null && !sameName(into, column));
    if (into) {
      return `Put the input ${name} into ${column}; its placeholder is number ${
        at + 1
      }, which goes into ${into}`;
    }
  }
  if (!fills(shape.columns, users, key)) {
    return `Give ${key} a value in the INSERT; the engine does not fill this key in by itself`;
  }
  const shown = shownColumns(sql, () => users.columns.map(({ name }) => name));
  if (shown === null || shown.length === 0) return null;
  return shownIndex(users, key, shown) < 0 ? `Return the primary key as it is: RETURNING ${key}` : null;
}

function fills(named: readonly string[], users: TableDefinition, key: string): boolean {
  const column = users.columns.find(({ name }) => name === key);
  return users.keyIsRowid || (column !== undefined && (column.generated || column.defaultSql !== null)) ||
    named.some((name) => sameName(name, key));
}

/** Where the text does not tell which columns are shown, the columns that are read count as shown. */
function loginFault(
  sql: string,
  users: TableDefinition,
  { tables, facts, key }: Known & Statement,
): string | null {
  const shown = shownColumns(
    sql,
    (table) => tables.find(({ name }) => sameName(name, table))?.columns ?? null,
  );
  const reads = (column: string) => facts.columnsRead.some((one) => sameName(one, `${users.name}.${column}`));
  const shows = (column: string) => shown === null ? reads(column) : shownIndex(users, column, shown) >= 0;
  return shows(key) && shows(PASSWORD_COLUMN)
    ? null
    : `Select the primary key, ${key}, and ${PASSWORD_COLUMN} of the users table as they are`;
}

function columnOf({ columns }: TableDefinition, name: string): string | null {
  return columns.find((column) => sameName(column.name, name))?.name ?? null;
}
