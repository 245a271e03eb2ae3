// Whether `authConfig` and `askConfig` stand where they belong and name what the database has.
import type { Issue } from "../../core/errors.ts";
import { isReservedName } from "../../sql/service_tables.ts";
import type { StatementFacts } from "../../sql/statement_facts.ts";
import type { SchemaNames } from "../../tenant/tenant_store.ts";
import { foldName } from "../schema/fold_name.ts";
import type { SpecParts } from "./spec_parts.ts";

const EMAIL = "email";
const PASSWORD = "password_hash";

type Tables = SchemaNames["tables"];

/** `raw` tells a missing object from a malformed one, which has its own issues already. */
export function configIssues(
  spec: SpecParts,
  raw: unknown,
  { tables, facts }: { readonly tables: Tables; readonly facts: StatementFacts | null },
): Issue[] {
  const { kind } = spec;
  if (kind === undefined) return [];
  const known = tables.filter(({ name, kind }) => kind !== "shadow" && !isReservedName(name));
  return [
    ...placeIssue("authConfig", kind === "auth_signup" || kind === "auth_login", raw),
    ...placeIssue("askConfig", kind === "ask", raw),
    ...authIssues(spec, known, facts),
    ...askIssues(spec, known),
  ];
}

function placeIssue(name: "authConfig" | "askConfig", belongs: boolean, raw: unknown): Issue[] {
  const present = typeof raw === "object" && raw !== null && Object.hasOwn(raw, name);
  if (present === belongs) return [];
  return [{
    path: name,
    message: belongs ? "Add this field; the kind requires it" : "Remove this; the kind has no use for it",
  }];
}

function authIssues(
  { kind, authConfig, sql }: SpecParts,
  tables: Tables,
  facts: StatementFacts | null,
): Issue[] {
  if (authConfig === undefined || (kind !== "auth_signup" && kind !== "auth_login")) return [];
  const users = tables.find((table) => sameName(table.name, authConfig.usersTable));
  if (users === undefined || users.kind !== "table") {
    return [{ path: "authConfig.usersTable", message: "Name a table of this database" }];
  }
  const has = (column: string) => users.columns.some((one) => sameName(one, column));
  const issues: Issue[] = [];
  if (!has(authConfig.emailColumn ?? EMAIL)) {
    issues.push({ path: "authConfig.emailColumn", message: "Name a column of the users table" });
  }
  if (!has(PASSWORD)) {
    issues.push({
      path: "authConfig.passwordColumn",
      message: `Add the column ${PASSWORD} to the users table`,
    });
  }
  if (facts === null || sql === undefined || issues.length > 0) return issues;
  const fits = kind === "auth_signup"
    ? facts.verb === "insert" && facts.tablesWritten.some((table) => sameName(table, users.name))
    : facts.columnsRead.some((column) => sameName(column, `${users.name}.${PASSWORD}`));
  if (fits) return [];
  return [{
    path: "sql",
    message: kind === "auth_signup"
      ? "Write an INSERT into the users table"
      : `Select the primary key and ${PASSWORD} of the users table`,
  }];
}

function askIssues({ kind, askConfig }: SpecParts, tables: Tables): Issue[] {
  if (kind !== "ask" || askConfig === undefined) return [];
  return askConfig.allowedTables.flatMap((name, at) =>
    tables.some((table) => sameName(table.name, name))
      ? []
      : [{ path: `askConfig.allowedTables[${at}]`, message: "Name a table or view of this database" }]
  );
}

function sameName(a: string, b: string): boolean {
  return foldName(a) === foldName(b);
}
