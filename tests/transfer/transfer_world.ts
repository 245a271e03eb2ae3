// What tests of exports and imports share: raw answers, and a digest of everything that a file holds.
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

export interface TransferWorld {
  readonly app: StartedApp;
  readonly acme: TestNamespace;
  /** The answer of an export as it comes. */
  export(query: string, more?: ExportOptions): Promise<Response>;
  /** The bytes of an export that has to succeed. */
  exported(query: string, more?: ExportOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** Sends a file to a database, that of the world unless another path is given. */
  import(query: string, body: unknown, more?: ExportOptions): Promise<ApiAnswer>;
}

interface ExportOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
  /** Default: that of the database `main`. */
  readonly path?: string;
}

export async function transferWorld(app: StartedApp, slug: string): Promise<TransferWorld> {
  const acme = await app.namespace(slug);
  const world: TransferWorld = {
    app,
    acme,
    export: async (query, { headers = {}, token = acme.token, path = acme.database.path } = {}) =>
      await app.app.request(`${path}/export?${query}`, {
        headers: { authorization: `Bearer ${token}`, ...headers },
      }),
    exported: async (query, more) => {
      const answer = await world.export(query, more);
      const bytes = await answer.bytes();
      assertEquals(answer.status, 200, new TextDecoder().decode(bytes.subarray(0, 500)));
      return bytes;
    },
    import: (query, body, { headers = {}, token = acme.token, path = acme.database.path } = {}) =>
      app.request("POST", `${path}/import?${query}`, { token, headers, body }),
  };
  return world;
}

/** What is in a database: each object's text, and each value of each row with its type. */
export type Content = Readonly<Record<string, unknown>>;

/** The content of a SQLite file. */
export async function contentOf(file: Uint8Array): Promise<Content> {
  const path = await Deno.makeTempFile({ prefix: "cubby_content_" });
  try {
    await Deno.writeFile(path, file);
    const db = new DatabaseSync(path);
    const content = readContent(db);
    db.close();
    return content;
  } finally {
    await Deno.remove(path);
  }
}

/** The content of what statements make. */
export function contentOfSql(sql: string): Content {
  const db = new DatabaseSync(":memory:");
  try {
    db.exec(sql);
    return readContent(db);
  } finally {
    db.close();
  }
}

function readContent(db: DatabaseSync): Content {
  const rowsOf = (sql: string, ...params: string[]) => {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement.all(...params).map((row) => Object.values(row).map(String));
  };
  assertEquals(rowsOf("PRAGMA integrity_check"), [["ok"]]);
  const shadows = "SELECT name FROM pragma_table_list WHERE type = 'shadow'";
  const objects = rowsOf(
    `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ` +
      `AND name NOT IN (${shadows}) ORDER BY type, name`,
  );
  const content: Record<string, unknown> = { objects, version: rowsOf("PRAGMA user_version") };
  for (const [type, name = ""] of objects) {
    if (type !== "table") continue;
    const columns = rowsOf("SELECT name FROM pragma_table_xinfo(?) WHERE hidden IN (0, 2, 3)", name).flat();
    const values = columns.map((column) => {
      const quoted = `"${column.replaceAll('"', '""')}"`;
      return `typeof(${quoted}) || ':' || hex(CAST(${quoted} AS BLOB))`;
    });
    content[name] = rowsOf(`SELECT ${values.join(", ")} FROM "${name.replaceAll('"', '""')}"`);
  }
  if (objects.some(([, name]) => name === "counted")) {
    content["sequence"] = rowsOf("SELECT * FROM sqlite_sequence");
  }
  if (objects.some(([, name]) => name === "loose")) {
    content["rowids"] = rowsOf("SELECT rowid FROM loose ORDER BY rowid");
  }
  for (const [, name] of objects.filter(([, , sql]) => /fts5/.test(sql ?? ""))) {
    for (const word of ["run*", "gamma", "found", "kůň"]) {
      content[`${name} ${word}`] = rowsOf(
        `SELECT _rowid_ FROM "${name}" WHERE "${name}" MATCH ?`,
        `"${word}"`,
      );
    }
  }
  return content;
}
