// The endpoints by which the users of an app sign up, log in and keep their accounts.
import { EMAIL_COLUMN } from "../../../access/mint_session.ts";
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import { foldName } from "../../../sql/words/names.ts";
import type { ColumnDefinition, TableDefinition } from "../../schema/read_table.ts";
import { isSecretColumn } from "../../schema/secret_column.ts";
import { keyColumn, PASSWORD_COLUMN } from "../spec/users_table.ts";
import { fieldsOf } from "./column_fields.ts";
import { type Body, sqlName } from "./crud_spec.ts";
import type { ScaffoldOperation } from "./scaffold_names.ts";

/** A users table, and the pages of the app that take the links of mails. */
export interface AccountTable {
  readonly table: TableDefinition;
  readonly resetUrl: string | null;
  readonly verifyUrl: string | null;
}

const GUARDED: ReadonlySet<string> = new Set([PASSWORD_COLUMN, "role"]);

/** Whether it is a column of a users table that no caller sees or sets. */
export function isGuarded(column: ColumnDefinition): boolean {
  return GUARDED.has(foldName(column.name)) || isSecretColumn(column);
}

/** What a users table gets beside sign-up and log-in. */
export const keptAccount = [
  "password",
  "logout",
  "refresh",
  "reset",
  "verify",
] as const satisfies ScaffoldOperation[];

const EMAIL: FieldSpec = { name: "email", type: "email", trim: true };
const PASSWORD: FieldSpec = { name: "password", type: "text", required: true };
const TOKEN: FieldSpec = { name: "token", type: "text" };
const CREDENTIALS: FieldSpec[] = [{ ...EMAIL, required: true }, PASSWORD];
/** Names of a column for the time at which an address was verified. */
const VERIFIED: ReadonlySet<string> = new Set([
  "verified_at",
  "email_verified_at",
  "emailverifiedat",
  "verifiedat",
]);

/** A string is the reason why the table has no such endpoint. */
export const accountBodies = {
  signup: ({ table }: AccountTable) => {
    const others = table.columns.filter((one) =>
      one.notNull && one.keyPosition === 0 && !one.generated && one.defaultSql === null &&
      ![EMAIL_COLUMN, PASSWORD_COLUMN].includes(foldName(one.name))
    );
    const secret = others.find(isGuarded);
    if (secret !== undefined) return `Give ${secret.name} a DEFAULT; no sign-up sets it`;
    const fields = fieldsOf(others, new Set(["email", "password"]));
    const columns = [EMAIL_COLUMN, PASSWORD_COLUMN, ...others.map(({ name }) => sqlName(name))];
    const values = [":email", ":password", ...fields.map(({ name }) => `:${name}`)];
    return {
      ...account(table, "auth_signup", "session"),
      sql: `INSERT INTO ${sqlName(table.name)} (${columns.join(", ")}) VALUES (${
        values.join(", ")
      }) RETURNING ${sqlName(keyColumn(table) ?? "rowid")}`,
      input: [...CREDENTIALS, ...fields],
    };
  },
  login: ({ table }: AccountTable) => ({
    ...account(table, "auth_login", "session"),
    sql: `SELECT ${sqlName(keyColumn(table) ?? "rowid")}, ${PASSWORD_COLUMN} FROM ${sqlName(table.name)} ` +
      `WHERE ${EMAIL_COLUMN} = :email`,
    input: CREDENTIALS,
  }),
  password: ({ table }: AccountTable) => ({
    ...account(table, "auth_password", "session"),
    auth: "session",
    input: [PASSWORD, { ...PASSWORD, name: "new_password" }],
  }),
  logout: () => ({
    kind: "auth_logout",
    method: "POST",
    output: "done",
    sql: "",
    auth: "session",
    input: [{ name: "all", type: "boolean", label: "Every session of the user" }],
  }),
  refresh: ({ table }: AccountTable) => ({
    ...account(table, "auth_refresh", "session"),
    auth: "session",
    input: [],
  }),
  reset: ({ table, resetUrl }: AccountTable) => {
    if (resetUrl === null) return "Send resetUrl, the page of your app that takes the link of the mail";
    const { authConfig, ...rest } = account(table, "auth_reset", "done");
    return {
      ...rest,
      cors: [originOf(resetUrl)],
      authConfig: { ...authConfig, resetUrl },
      input: [EMAIL, TOKEN, { name: "password", type: "text" }],
    };
  },
  verify: ({ table, verifyUrl }: AccountTable) => {
    const verifiedColumn = table.columns.find(({ name }) => VERIFIED.has(foldName(name)))?.name;
    if (verifiedColumn === undefined) return "Add a column verified_at, which gets the time of it";
    if (verifyUrl === null) return "Send verifyUrl, the page of your app that takes the link of the mail";
    const { authConfig, ...rest } = account(table, "auth_verify", "done");
    return {
      ...rest,
      cors: [originOf(verifyUrl)],
      authConfig: { ...authConfig, verifyUrl, verifiedColumn },
      input: [EMAIL, TOKEN],
    };
  },
} satisfies Readonly<Partial<Record<ScaffoldOperation, (app: AccountTable) => Body | string>>>;

function account<Kind extends EndpointSpec["kind"], Output extends EndpointSpec["output"]>(
  { name }: TableDefinition,
  kind: Kind,
  output: Output,
) {
  const authConfig = {
    usersTable: name,
    emailColumn: EMAIL_COLUMN,
    passwordColumn: PASSWORD_COLUMN,
  } as const;
  return { kind, method: "POST", output, sql: "", authConfig, rateLimit: { perMin: 10 } } as const;
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}
