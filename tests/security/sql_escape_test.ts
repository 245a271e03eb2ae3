// Attacks, end to end against a real store: the whole corpus is run by every role and past the classification, and
// nothing outside of what the role may change has changed.
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import type { Role } from "../../lib/core/role.ts";
import { plainCall } from "../../lib/query/plain_call.ts";
import { run } from "../../lib/query/run.ts";
import { replaySecret } from "../sql/corpus_schema.ts";
import { type CorpusTenant, withCorpusTenant } from "../sql/corpus_tenant.ts";
import { statementCorpus } from "../sql/statement_corpus.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { tenantDump } from "./tenant_dump.ts";

/** Forms that sqld's own parser does not read. */
const notRead = /\(status, ',' ORDER BY id\)/;

const corpus = Object.values(statementCorpus).flat();

interface Answer {
  /** `ok` or the error's code. */
  readonly code: string;
  readonly status: number;
  /** Everything that a caller would see. */
  readonly text: string;
}

async function runAs(
  { ctx, namespaceId }: CorpusTenant,
  role: Role,
  databaseId: string,
  ...texts: string[]
): Promise<Answer> {
  const statements = texts.map((sql) => {
    const result = ctx.facts.syntax(sql);
    return { sql, params: Array<number>(result.ok ? result.syntax.parameterCount : 0).fill(1) };
  });
  try {
    const call = plainCall({
      target: {
        ...{ namespaceId, databaseId, role },
        ...{ namespaceSlug: "acme", databaseSlug: "main", branchRef: "main" },
      },
      tokenId: "tok_1",
      operation: texts.length > 1 ? "batch" : "query",
      statements,
    });
    const { results } = await run(ctx, call);
    return { code: "ok", status: 200, text: results.map(({ json }) => json).join("") };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const text = JSON.stringify([error.message, error.facts]);
    return { code: error.code, status: error.status, text };
  }
}

/** Every file under a folder, without those of the service's and the engine children's own bookkeeping. */
async function filesUnder(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    const isBookkeeping = entry.name === "run" || entry.name === "spool";
    if (entry.isDirectory) { if (!isBookkeeping) files.push(...await filesUnder(path)); }
    else files.push(path);
  }
  return files.sort();
}

/** Two databases; after the attack the second is as it was and no file has appeared but those of the two. */
async function attack(body: (tenant: CorpusTenant, own: string) => Promise<void>): Promise<void> {
  await withCorpusTenant(async (tenant) => {
    const own = await tenant.addDatabase();
    const other = await tenant.addDatabase();
    const before = await tenantDump(tenant, other);
    const filesBefore = await filesUnder(tenant.config.dataDir);
    const folderBefore = [...Deno.readDirSync(Deno.cwd())].map((entry) => entry.name).sort();
    await body(tenant, own);
    assertEquals(await tenantDump(tenant, other), before, "another database has changed");
    const strange = (await filesUnder(tenant.config.dataDir)).filter((path) =>
      !filesBefore.includes(path.replace(/-(?:wal|shm)$/, ""))
    );
    assertEquals(strange, [], "a file has appeared");
    const escaped = [...Deno.readDirSync(Deno.cwd())].map((entry) => entry.name).sort();
    assertEquals(
      escaped.filter((name) => !folderBefore.includes(name) && /escaped|other\.db/.test(name)),
      [],
    );
    // The database still answers.
    assertEquals((await runAs(tenant, "read", own, "SELECT 1")).code, "ok");
  });
}

Deno.test("an admin gets 403 for every refused statement and 400 for every mistake, and nothing changes", async () => {
  await attack(async (tenant, own) => {
    const before = await tenantDump(tenant, own);
    for (const [sql, expected] of corpus) {
      if (expected.startsWith("nobody ")) {
        const answer = await runAs(tenant, "admin", own, sql);
        assertEquals([answer.code, answer.status], ["statement_refused", 403], sql);
        assert(!answer.text.includes(replaySecret), sql);
      }
      if (expected.startsWith("error ")) {
        assertEquals((await runAs(tenant, "admin", own, sql)).status, 400, sql);
      }
    }
    assertEquals(await tenantDump(tenant, own), before);
  });
});

Deno.test("an admin who runs the whole corpus leaves the service's tables and other databases as they were", async () => {
  await attack(async (tenant, own) => {
    const before = await tenantDump(tenant, own, "service");
    for (const [sql, expected] of corpus) {
      // What changes the schema gets a database of its own, so that it finds something to change.
      const databaseId = expected.startsWith("admin ") ? await tenant.addDatabase() : own;
      const answer = await runAs(tenant, "admin", databaseId, sql);
      assert([200, 400, 403].includes(answer.status), `${sql}: ${answer.code} ${answer.text}`);
      assert(!answer.text.includes(replaySecret), sql);
      assert(!answer.text.includes(tenant.config.dataDir), `${sql} tells where the files are`);
      assertEquals(await tenantDump(tenant, databaseId, "service"), before, sql);
      if (databaseId !== own) await tenant.store.drop(databaseId);
    }
  });
});

Deno.test("a reader who runs the whole corpus changes nothing, and a writer no definition", async () => {
  await attack(async (tenant, own) => {
    const before = await tenantDump(tenant, own);
    for (const [sql, expected] of corpus) {
      const answer = await runAs(tenant, "read", own, sql);
      const allowed = expected.startsWith("read ") && (isEmbedded() || !notRead.test(sql));
      assertEquals(answer.code === "ok", allowed, `${sql}: ${answer.code} ${answer.text}`);
      if (/^(?:write|admin) /.test(expected)) assertEquals(answer.code, "role_too_low", sql);
      assert(!answer.text.includes(replaySecret), sql);
    }
    assertEquals(await tenantDump(tenant, own), before);
    const definitions = await tenantDump(tenant, own, "definitions");
    for (const [sql, expected] of corpus) {
      const answer = await runAs(tenant, "write", own, sql);
      if (expected.startsWith("admin ")) assertEquals(answer.code, "role_too_low", sql);
      assert(!answer.text.includes(replaySecret), sql);
    }
    assertEquals(await tenantDump(tenant, own, "definitions"), definitions);
    assertNotEquals(await tenantDump(tenant, own), before, "the writer wrote nothing at all");
  });
});

type Step = readonly [sql: string, code: string];

Deno.test("attacks in several steps end in a refusal", async () => {
  await attack(async (tenant, own) => {
    const analyze: readonly Step[] = [
      ["ANALYZE", "ok"],
      ["SELECT 1 / (count(*) = 0) FROM sqlite_stat1 WHERE tbl GLOB '_service_meta_*'", "ok"],
      ["DELETE FROM sqlite_stat1", "statement_refused"],
    ];
    const steps: readonly Step[] = [
      ["CREATE VIEW paths AS SELECT * FROM pragma_database_list", "ok"],
      ["SELECT * FROM paths", "statement_refused"],
      ["SELECT count(*) FROM paths", "statement_refused"],
      ["CREATE VIEW pages AS SELECT * FROM dbstat", "ok"],
      ["SELECT 1 FROM pages", "statement_refused"],
      [
        "CREATE TRIGGER spill AFTER INSERT ON audit_copy BEGIN INSERT INTO audit_trail SELECT 1, file FROM pragma_database_list; END",
        "ok",
      ],
      ["INSERT INTO audit_copy VALUES ('x')", "statement_refused"],
      ["DROP TRIGGER spill", "ok"],
      ["CREATE TABLE sheet (a)", "ok"],
      ["ALTER TABLE sheet RENAME TO _service_meta_sheet", "statement_refused"],
      ["ALTER TABLE sheet RENAME TO sqlite_sheet", "statement_refused"],
      ["ALTER TABLE articles RENAME TO _service_meta", "statement_refused"],
      ["DROP VIEW paths", "ok"],
      ["DROP VIEW pages", "ok"],
      ["ALTER TABLE articles RENAME TO essays", "ok"],
      ["DELETE FROM essays_data", "statement_refused"],
      ...isEmbedded() ? analyze : [["ANALYZE", "sql_error"] as const],
      ["PRAGMA user_version = 9", "ok"],
    ];
    for (const [sql, code] of steps) {
      const answer = await runAs(tenant, "admin", own, sql);
      assertEquals(answer.code, code, `${sql}: ${answer.text}`);
    }
    for (const table of isEmbedded() ? ["sqlite_stat1", "sqlite_stat4"] : []) {
      const { text } = await runAs(
        tenant,
        "admin",
        own,
        `SELECT count(*) FROM ${table} WHERE tbl GLOB '_service_meta_*'`,
      );
      assert(text.endsWith('"rows":[[0]]'), `${table}: ${text}`);
    }
  });
});

Deno.test("what is refused does not take the usual patterns along", async () => {
  await attack(async (tenant, own) => {
    const patterns: readonly (readonly [sql: string, role: Role])[] = [
      [
        "CREATE TRIGGER notes_in AFTER INSERT ON notes BEGIN INSERT INTO notes_text (rowid, body) VALUES (new.id, new.body); END",
        "admin",
      ],
      ["INSERT INTO notes (order_id, body) VALUES (2, 'ring twice')", "write"],
      ["SELECT rowid FROM notes_text('ring')", "read"],
      ["CREATE VIEW numbers AS SELECT value FROM json_each('[1, 2]')", "admin"],
      ["SELECT sum(value) FROM numbers", "read"],
      ["CREATE TABLE boxes (a INT, b INT AS (a * 2))", "admin"],
      ["ALTER TABLE boxes ADD COLUMN c INT AS (a * 3)", "admin"],
      ["INSERT INTO boxes (a) VALUES (1) RETURNING b, c", "write"],
      ["REINDEX", "admin"],
      ...isEmbedded() ? [["ANALYZE", "admin"] as const] : [],
    ];
    for (const [sql, role] of patterns) {
      const answer = await runAs(tenant, role, own, sql);
      assertEquals(answer.code, "ok", `${sql}: ${answer.text}`);
    }
  });
});

Deno.test("a batch is refused for the statement that its earlier ones would make harmful", async () => {
  await attack(async (tenant, own) => {
    const before = await tenantDump(tenant, own);
    for (
      const texts of [
        ["CREATE TABLE x (a)", "ATTACH 'other.db' AS y"],
        ["CREATE VIEW w AS SELECT * FROM pragma_database_list", "SELECT * FROM w"],
        ["ALTER TABLE articles RENAME TO essays", "DELETE FROM essays_data"],
        ["CREATE VIRTUAL TABLE f USING fts5(a)", "DROP TABLE f_data"],
        ["DROP TABLE service_meta_replay", "SELECT * FROM _service_meta_replay"],
      ]
    ) {
      const answer = await runAs(tenant, "admin", own, ...texts);
      assertEquals(answer.code, "statement_refused", `${texts.join("; ")}: ${answer.text}`);
    }
    assertEquals(await tenantDump(tenant, own), before);
  });
});
