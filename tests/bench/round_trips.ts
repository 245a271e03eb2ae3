// `deno run -A tests/bench/round_trips.ts`: what comes back of each kind of object, by format and between stores, as a table. A
// cell compares what SQLite itself reads of the file that the first store exports and of the one that the second exports after
// its import: texts of the schema, rowids, types and bytes of each value, results of searches.
import { print } from "../testing/print.ts";
import { SHARED_SQLD, startSqld } from "../testing/sqld.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { contentless, kinds } from "../transfer/kinds.ts";
import { type Content, contentOf } from "../transfer/transfer_world.ts";

const UNSEEN = "unseen found";
/** What is compared of each kind: members of the content, or the objects whose names are given. */
const compared: Readonly<
  Record<string, { readonly members?: readonly string[]; readonly objects?: RegExp }>
> = {
  "values: U+0000, no UTF-8, infinities, 64 bits": { members: ["plain"] },
  "rowids without a column": { members: ["loose", "rowids"] },
  "columns named rowid, oid, _rowid_": { members: ["hidden_rowid", "all_names"] },
  "WITHOUT ROWID, composite key": { members: ["composite"] },
  "STRICT with ANY": { members: ["strict_any"] },
  "AUTOINCREMENT at 2^63-1": { members: ["counted", "sequence"] },
  "generated columns": { members: ["made"] },
  "references in a circle": { members: ["parent", "child"] },
  "names with quotes and line ends": { members: ["odd \"name\"\n'here'"] },
  "indexes on expressions, partial, unique": { objects: /^index / },
  "views on views": { objects: /^view / },
  "triggers with semicolons": { objects: /^trigger / },
  "FTS5 with rows of its own": { members: ["words", "words run*", "words kůň"] },
  "FTS5 over another table": { members: ["docs", "docs_index gamma"] },
  "R*Tree with more columns": { members: ["boxes"] },
  "FTS5 without rows": { members: [UNSEEN] },
  "user_version": { members: ["version"] },
};
const rowTables = ["plain_typed"];
const TYPED = "CREATE TABLE plain_typed (id INTEGER PRIMARY KEY, n INTEGER, r REAL, t TEXT, b BLOB)";
const TYPED_ROWS = "INSERT INTO plain_typed VALUES (1, 9223372036854775807, 0.1, 'a,\"b\"\r\nž', x'00ff'), " +
  "(2, NULL, NULL, NULL, NULL), (3, -1, 1e300, '', x'')";

interface Side {
  readonly name: string;
  readonly app: StartedApp;
  readonly acme: TestNamespace;
}

const sqld = await startSqld({ args: SHARED_SQLD });
const sides = await Promise.all([
  side("embedded", { TENANTS_URL: "file:" }),
  ...sqld === null ? [] : [side("sqld", { TENANTS_URL: `sqld+${sqld.url}?admin=${sqld.adminUrl}` })],
]);
const columns: string[] = [];
const cells = new Map<string, string[]>(Object.keys(compared).map((kind) => [kind, []]));
const typed: string[] = [];
try {
  for (const from of sides) {
    const before = await contentOf(await exported(from, from.acme.database.path, "format=sqlite"));
    for (const to of sides) {
      for (const format of ["sqlite", "sql"]) {
        columns.push(`${from.name} → ${to.name}, ${format}`);
        // Statements cannot write what such a table stores, and an export as SQL says so.
        const path = format === "sql" ? `${from.acme.database.path}-rows` : from.acme.database.path;
        const file = await exported(from, path, `format=${format}`);
        const database = await to.acme.createDatabase(`from-${from.name}-${format}`);
        await send(to, `${database.path}/import?format=${format}&mode=create`, file);
        const after = await contentOf(await exported(to, database.path, "format=sqlite"));
        for (const [kind, what] of Object.entries(compared)) {
          const isRefused = format === "sql" && what.members?.[0] === UNSEEN;
          cells.get(kind)?.push(isRefused ? "refused by name" : verdict(before, after, what));
        }
      }
      for (const format of ["csv", "ndjson"]) typed.push(await rowsTravel(from, to, format));
    }
  }
} finally {
  for (const { app } of sides) await app.stop();
  await sqld?.stop();
}
print(`| kind of object | ${columns.join(" | ")} |\n|---|${"---|".repeat(columns.length)}`);
for (const [kind, row] of cells) print(`| ${kind} | ${row.join(" | ")} |`);
print(`\nRows of a table by csv and ndjson, for each pair of stores: ${typed.join(", ")}\n`);

async function side(name: string, settings: Record<string, string>): Promise<Side> {
  const app = await startApp({ settings });
  const acme = await app.namespace(name);
  await acme.setup(...kinds, TYPED, TYPED_ROWS, ...contentless);
  // The same without the one kind that SQL does not carry.
  const rows = await acme.createDatabase("main-rows");
  for (const sql of [...kinds, TYPED, TYPED_ROWS]) {
    const answer = await app.request("POST", `${rows.path}/query`, { token: acme.token, body: { sql } });
    if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
  }
  return { name, app, acme };
}

async function exported(
  { app, acme }: Side,
  path: string,
  query: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const headers = { authorization: `Bearer ${acme.token}` };
  const answer = await app.app.request(`${path}/export?${query}`, { headers });
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.bytes();
}

async function send({ app, acme }: Side, path: string, body: unknown): Promise<void> {
  const answer = await app.request("POST", path, { token: acme.token, body });
  if (answer.status !== 200) throw new Error(answer.text);
}

function verdict(
  before: Content,
  after: Content,
  { members = [], objects }: { readonly members?: readonly string[]; readonly objects?: RegExp },
): string {
  const parts = (content: Content) =>
    JSON.stringify([
      ...members.map((name) => content[name] ?? null),
      ...objects
        ? (content["objects"] as string[][]).filter(([type, name]) => objects.test(`${type} ${name}`))
        : [],
    ]);
  if (parts(before) === parts(after)) return "equal";
  // A full-text table that has no rows of its own is made, and named as empty.
  return members[0] === UNSEEN ? "empty, told" : "DIFFERENT";
}

async function rowsTravel(from: Side, to: Side, format: string): Promise<string> {
  const { path } = await to.acme.createDatabase(`rows-${from.name}-${format}`);
  await to.app.request("POST", `${path}/query`, { token: to.acme.token, body: { sql: TYPED } });
  for (const table of rowTables) {
    const query = `format=${format}&table=${table}`;
    const file = await exported(from, from.acme.database.path, query);
    await send(to, `${path}/import?${query}&mode=append`, file);
    const rows = async (side: Side, path: string) => {
      const sql = await exported(side, path, `format=sql&table=${table}`);
      return new TextDecoder().decode(sql).replace(/^PRAGMA user_version.*\n/m, "");
    };
    const isEqual = await rows(from, from.acme.database.path) === await rows(to, path);
    if (!isEqual) return `${format} DIFFERENT`;
  }
  return `${format} equal`;
}
