// The endpoints that an app is built on: rows in pages, rows that belong to a user, accounts, full-text search.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import { EMAIL_COLUMN } from "../../../access/mint_session.ts";
import { defaultExpression } from "../../../sql/schema/default_expression.ts";
import { foldName } from "../../../sql/words/names.ts";
import type { IndexFacts } from "../../schema/read_indexes.ts";
import type { ColumnDefinition, TableDefinition } from "../../schema/read_table.ts";
import { isSecretColumn } from "../../schema/secret_column.ts";
import { keyColumn, PASSWORD_COLUMN } from "../spec/users_table.ts";
import { accountBodies, isGuarded, keptAccount } from "./account_bodies.ts";
import { fieldsOf } from "./column_fields.ts";
import { type Body, inputType, isCreated, isListed, MAX_LIMIT, selected, sqlName } from "./crud_spec.ts";
import { listBody } from "./list_body.ts";
import type { ScaffoldOperation } from "./scaffold_names.ts";
import { keyDefinitions } from "../../schema/key_columns.ts";

/** A table, and the column that holds the user to whom a row belongs; null: rows belong to nobody. */
export interface AppTable {
  readonly table: TableDefinition;
  readonly owner: ColumnDefinition | null;
  readonly indexes: readonly IndexFacts[];
  /** Pages of the app that take the links of mails; null: there is none. */
  readonly resetUrl: string | null;
  readonly verifyUrl: string | null;
}

const SEARCHED = 50;

/** Whether people sign up and log in by this table. */
function isUsersTable(table: TableDefinition): boolean {
  return hasPasswords(table) && hasColumn(table, EMAIL_COLUMN);
}

/** Whether its rows hold the hash of a password. */
function hasPasswords(table: TableDefinition): boolean {
  return hasColumn(table, PASSWORD_COLUMN);
}

function hasColumn({ columns }: TableDefinition, wanted: string): boolean {
  return columns.some(({ name }) => foldName(name) === wanted);
}

/** Its columns have no types; the first one of an R*Tree, the only other kind of virtual table, has one. */
function isFullText({ kind, columns: [first] }: TableDefinition): boolean {
  return kind === "virtual" && first?.declaredType === "";
}

/** The operations that such a table gets unless they are chosen. */
export function appOperations(
  { table, resetUrl, verifyUrl }: Pick<AppTable, "table" | "resetUrl" | "verifyUrl">,
): readonly ScaffoldOperation[] {
  if (isUsersTable(table)) {
    const kept = keptAccount.filter((one) =>
      (one !== "reset" || resetUrl) && (one !== "verify" || verifyUrl)
    );
    return ["signup", "login", "me", ...kept];
  }
  return table.kind === "virtual" ? ["search"] : ["list", "get", "create", "update", "delete"];
}

/** A string is the reason why the table has no such endpoint. */
export function appBody(app: AppTable, operation: ScaffoldOperation): Body | string {
  const isForUsers = operation === "me" || Object.hasOwn(accountBodies, operation);
  if (isForUsers !== isUsersTable(app.table)) {
    return isForUsers
      ? `A users table has the columns ${EMAIL_COLUMN} and ${PASSWORD_COLUMN}`
      : "A users table has signup, login, me and what keeps accounts; its rows are for their users";
  }
  if (!isForUsers && hasPasswords(app.table)) {
    return `Name the column of the address ${EMAIL_COLUMN}, for sign-up and log-in; rows with ${PASSWORD_COLUMN} are shown to nobody`;
  }
  const secret = isForUsers
    ? undefined
    : app.table.columns.find((one) =>
      isSecretColumn(one) && (one.keyPosition > 0 || app.table.kind === "virtual")
    );
  if (secret !== undefined) {
    return `Rows are found by ${secret.name}, whose name says that it is a secret; write this endpoint yourself`;
  }
  return meaningful(app, bodies[operation](app));
}

/** What SELECT and RETURNING show: no secrets. */
function shown({ columns }: TableDefinition): string {
  return selected(columns, columns.filter((one) => !isSecretColumn(one)));
}

/** What a list shows. It has a key, which is no secret. */
function listed({ columns }: TableDefinition): string {
  return selected(columns, columns.filter((one) => !isSecretColumn(one) && isListed(one)));
}

/** Booleans and JSON come as what they mean, where rows come. */
function meaningful({ table }: AppTable, body: Body | string): Body | string {
  if (typeof body === "string" || !["rows", "first_row", "page"].includes(body.output)) return body;
  const types = table.columns.filter((one) => !isSecretColumn(one)).flatMap(({ name, declaredType }) => {
    const type = inputType(declaredType);
    return type === "boolean" || type === "json" ? [[name, type] as const] : [];
  });
  return types.length === 0 ? body : { ...body, outputTypes: Object.fromEntries(types) };
}

const bodies: Readonly<Record<ScaffoldOperation, (app: AppTable) => Body | string>> = {
  list: (app) => {
    const body = listBody(app.table, app);
    if (body === null) {
      const what = app.table.kind === "view" ? "view" : "table";
      return `The ${what} has no primary key, by which pages go on; without shape and owner a list needs none`;
    }
    const where = conditions([], app);
    return {
      ...reading(app),
      sql: `SELECT ${listed(app.table)} FROM ${sqlName(app.table.name)}${
        where === "" ? "" : ` WHERE ${where}`
      }`,
      input: [...body.input, ...owned(app)],
      output: "page",
      list: body.list,
    };
  },
  get: (app) =>
    byKey(app, (where, input) => ({
      ...reading(app),
      sql: `SELECT ${shown(app.table)} FROM ${sqlName(app.table.name)} WHERE ${where}`,
      input,
      output: "first_row",
    })),
  create: (app) => {
    const written = app.table.columns.filter((one) => one !== app.owner && isCreated(app.table, one));
    const columns = written.filter((one) => !isSecretColumn(one));
    const needed = written.find((one) => isSecretColumn(one) && one.notNull && one.defaultSql === null);
    if (needed !== undefined) return `Give ${needed.name} a DEFAULT; no caller sets it`;
    const fields = fieldsOf(columns, new Set());
    const values = columns.map(({ defaultSql }, at) => {
      const name = `:${fields[at]?.name}`;
      return defaultSql === null ? name : `coalesce(${name}, ${defaultExpression(defaultSql)})`;
    });
    const [owner, own] = app.owner ? [[sqlName(app.owner.name)], ["$user_id"]] : [[], []];
    const all = [...owner, ...columns.map(({ name }) => sqlName(name))];
    return {
      ...writing(app),
      sql: `INSERT INTO ${sqlName(app.table.name)} ${
        all.length === 0 ? "DEFAULT VALUES" : `(${all.join(", ")}) VALUES (${[...own, ...values].join(", ")})`
      } RETURNING ${shown(app.table)}`,
      input: [...fields, ...owned(app)],
      output: "first_row",
    };
  },
  update: (app) => {
    const columns = app.table.columns.filter((one) =>
      one !== app.owner && one.keyPosition === 0 && !one.generated && !isSecretColumn(one)
    );
    if (columns.length === 0) return "The table has no columns beside its key to update";
    return byKey(app, (where, input) => {
      const fields = fieldsOf(columns, new Set(input.map(({ name }) => name)), "none");
      const sets = columns.map(({ name }, at) => {
        const [column, field] = [sqlName(name), fields[at]?.name];
        return `${column} = CASE WHEN $sent_${field} THEN :${field} ELSE ${column} END`;
      });
      return {
        ...writing(app),
        sql: `UPDATE ${sqlName(app.table.name)} SET ${sets.join(", ")} WHERE ${where} RETURNING ${
          shown(app.table)
        }`,
        input: [...fields, ...input],
        output: "first_row",
      };
    });
  },
  delete: (app) =>
    byKey(app, (where, input) => ({
      ...writing(app),
      sql: `DELETE FROM ${sqlName(app.table.name)} WHERE ${where}`,
      input,
      output: "rows_written",
    })),
  search: ({ table }) => {
    if (!isFullText(table)) return "Name a full-text table (fts5); write endpoints of an R*Tree yourself";
    const name = sqlName(table.name);
    return {
      kind: "query",
      method: "GET",
      output: "rows",
      sql: `SELECT rowid, * FROM ${name} WHERE ${name} MATCH :q ORDER BY rank LIMIT :limit`,
      input: [
        { name: "q", label: "Words", type: "match", required: true, maxLength: 200 },
        { name: "limit", type: "integer", min: 1, max: MAX_LIMIT, default: SEARCHED },
      ],
    };
  },
  ...accountBodies,
  me: (app) =>
    withKey(app, (key) => ({
      kind: "query",
      method: "GET",
      output: "first_row",
      auth: "session",
      sql: `SELECT ${
        app.table.columns.filter((one) => !isGuarded(one)).map(({ name }) => sqlName(name)).join(", ")
      } FROM ${sqlName(app.table.name)} WHERE ${sqlName(key.name)} = $user_id`,
      input: [{ name: "$user_id", type: inputType(key.declaredType) }],
    })),
};

function reading({ owner }: AppTable) {
  return { kind: "query", method: "GET", ...(owner ? { auth: "session" as const } : {}) } as const;
}

function writing({ owner }: AppTable) {
  return { kind: "mutation", method: "POST", ...(owner ? { auth: "session" as const } : {}) } as const;
}

function owned({ owner }: AppTable): FieldSpec[] {
  return owner ? [{ name: "$user_id", type: inputType(owner.declaredType) }] : [];
}

function conditions(own: readonly string[], { owner }: AppTable): string {
  return [...own, ...(owner ? [`${sqlName(owner.name)} = $user_id`] : [])].join(" AND ");
}

function withKey({ table }: AppTable, build: (key: ColumnDefinition) => Body): Body | string {
  const key = table.columns.find(({ name }) => name === keyColumn(table));
  return key === undefined ? "The table has no primary key of one column" : build(key);
}

/** `where` compares the whole key, and the owner where rows have one. */
function byKey(
  app: AppTable,
  build: (where: string, input: FieldSpec[]) => Body,
): Body | string {
  const key = keyDefinitions(app.table.columns).filter((one) => one !== app.owner);
  // The owner may be the whole key: then each user has one row.
  if (key.length === 0 && app.owner?.keyPosition !== 1) {
    return `The ${app.table.kind === "view" ? "view" : "table"} has no primary key`;
  }
  const fields = fieldsOf(key, new Set()).map((field) => ({ ...field, required: true }));
  const where = key.map(({ name }, at) => `${sqlName(name)} = :${fields[at]?.name}`);
  return build(conditions(where, app), [...fields, ...owned(app)]);
}
