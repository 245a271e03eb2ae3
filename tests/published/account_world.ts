// An app with accounts and everything that people expect of them, made over the API as its owner would.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { StartAppOptions } from "../testing/start_app.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";

export const USERS = "CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, " +
  "email TEXT NOT NULL, password_hash TEXT NOT NULL, verified_at TEXT)";
export const USERS_INDEX = "CREATE UNIQUE INDEX users_email ON users (lower(email))";
export const PAGE = "https://shop.example";

const config = { usersTable: "users", passwordColumn: "password_hash" };
const email = { name: "email", type: "email" };
const text = (name: string) => ({ name, type: "text" });
const required = (field: object) => ({ ...field, required: true });
const base = { method: "POST", sql: "", authConfig: config };

/** What the owner sends, by slug. */
export const accountSpecs: Readonly<Record<string, Record<string, unknown>>> = {
  signup: {
    ...{
      ...base,
      kind: "auth_signup",
      output: "session",
      input: [required(email), required(text("password"))],
    },
    sql: "INSERT INTO users (email, password_hash) VALUES (:email, :password) RETURNING id",
  },
  login: {
    ...{
      ...base,
      kind: "auth_login",
      output: "session",
      input: [required(email), required(text("password"))],
    },
    sql: "SELECT id, password_hash FROM users WHERE email = :email",
  },
  password: {
    ...{ ...base, kind: "auth_password", output: "session", auth: "session" },
    input: [required(text("password")), required(text("new_password"))],
  },
  refresh: { ...base, kind: "auth_refresh", output: "session", auth: "session", input: [] },
  logout: {
    ...{ method: "POST", sql: "", kind: "auth_logout", output: "done", auth: "session" },
    input: [{ name: "all", type: "boolean" }],
  },
  reset: {
    ...{ ...base, kind: "auth_reset", output: "done", cors: [PAGE] },
    input: [email, text("token"), text("password")],
    authConfig: { ...config, resetUrl: `${PAGE}/reset` },
  },
  verify: {
    ...{ ...base, kind: "auth_verify", output: "done", cors: [PAGE], input: [email, text("token")] },
    authConfig: { ...config, verifyUrl: `${PAGE}/verify?from=mail`, verifiedColumn: "verified_at" },
  },
  me: {
    ...{ kind: "query", method: "GET", output: "first_row", auth: "session" },
    sql: "SELECT id, email, verified_at FROM users WHERE id = ?",
    input: [{ name: "$user_id", type: "integer" }],
  },
};

export const PASSWORD = "correct horse";

export interface AccountWorld extends PublishedApp {
  /** A call with a body, of `main` unless told otherwise. */
  post(
    slug: string,
    body: unknown,
    more?: { token?: string; database?: string; from?: string },
  ): Promise<ApiAnswer>;
  /** The session of a new user. */
  join(email: string, password?: string): Promise<string>;
  /** The status of `me` for a session. */
  me(token: string): Promise<number>;
  /** A call of the owner's. */
  manage(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
}

/** `from` of a call is an address behind a proxy: start with `TRUST_PROXY` 1 for it. */
export async function accountWorld(
  { setup = [USERS, USERS_INDEX], slugs = Object.keys(accountSpecs), ...options }: StartAppOptions & {
    readonly setup?: readonly string[];
    readonly slugs?: readonly string[];
  } = {},
): Promise<AccountWorld> {
  const world = await publishedApp({ ...options, setup });
  const { app, acme } = world;
  const manage: AccountWorld["manage"] = (method, path, body) =>
    app.request(method, `/api/namespaces/acme/databases/main/endpoints${path}`, {
      token: acme.token,
      ...(body === undefined ? {} : { body }),
    });
  for (const slug of slugs) {
    const made = await manage("POST", "", { slug, name: slug, ...accountSpecs[slug] });
    assertEquals(made.status, 201, `${slug}: ${made.text}`);
    assertEquals((await manage("POST", `/${slug}/publish`)).status, 200);
  }
  const post: AccountWorld["post"] = (slug, body, { token, database = "main", from } = {}) =>
    app.request("POST", `/p/acme/${database}/${slug}`, {
      body,
      ...(token === undefined ? {} : { token }),
      ...(from === undefined ? {} : { headers: { "x-forwarded-for": from } }),
    });
  return {
    ...world,
    post,
    manage,
    join: async (email, password = PASSWORD) => tokenOf(await post("signup", { email, password })),
    me: async (token) => (await world.call("me", { token })).status,
  };
}

/** The session in an answer. */
export function tokenOf({ status, text }: ApiAnswer): string {
  assertEquals(status, 200, text);
  return JSON.parse(text).token;
}

/** Status and code of an answer. */
export function outcome({ status, body }: ApiAnswer): [number, string | undefined] {
  return [status, body.code];
}
