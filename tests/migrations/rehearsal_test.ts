// A dry run of migrations tells what they would do, and leaves nothing: no record, no change, no copy.
import { assert, assertEquals } from "@std/assert";
import { countDatabases } from "../branches/count_databases.ts";
import { testSteps } from "../testing/cases.ts";
import { usage } from "../money/money_world.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { dataOf, type File, migrationWorld, refusalOf } from "./migration_world.ts";

const SHOP: File = [
  "0001_shop.sql",
  "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT);\nCREATE TABLE old (id INTEGER PRIMARY KEY);\nCREATE TABLE tags (id INTEGER PRIMARY KEY);\n" +
  "INSERT INTO items VALUES (1, 'pen'), (2, 'ink'), (3, 'cap');\nINSERT INTO old VALUES (1), (2);\nINSERT INTO tags VALUES (1);",
];
const CHANGE: File = [
  "0002_change.sql",
  "DELETE FROM items WHERE id = 3;\nUPDATE items SET name = 'PEN' WHERE id = 1;\nDROP TABLE old;\nALTER TABLE tags RENAME TO labels;\nCREATE TABLE loose (a TEXT);",
];

/** How many databases there are; on a server that tests share this cannot be told. */
async function copies(app: StartedApp): Promise<number> {
  return isEmbedded() ? await countDatabases(app) : 0;
}

interface Rehearsal {
  readonly durationMs: number;
  readonly tables: readonly { readonly table: string; readonly removed: number; readonly changed: number }[];
  readonly schema: { readonly changes: readonly unknown[]; readonly statements: readonly string[] };
  readonly rowsLost: readonly unknown[];
  readonly findings: readonly { readonly code: string; readonly table: string }[];
  readonly rule: string | null;
  readonly hits: readonly { readonly table: string }[];
}

/** The member of an answer. Guarantee: the test reads what it asserts. */
function rehearsalOf(data: Record<string, unknown>): Rehearsal {
  const { rehearsal } = data;
  assert(typeof rehearsal === "object" && rehearsal !== null, JSON.stringify(data));
  return rehearsal as Rehearsal;
}

testSteps("a dry run of migrations", migrationWorld, {
  "tells what they would do to schema and rows, and does nothing": async (
    { apply, post, names, rows, app, acme },
  ) => {
    await apply([SHOP]);
    const before = await copies(app);
    const data = dataOf(await post([SHOP, CHANGE], { dryRun: true }));
    assertEquals([data["applied"], data["pending"], data["snapshot"]], [[], ["0002_change.sql"], null]);
    const told = rehearsalOf(data);
    assertEquals(told.rowsLost, [{ table: "items", before: 3, after: 2 }, {
      table: "old",
      before: 2,
      after: null,
    }]);
    const items = told.tables.find(({ table }) => table === "items");
    assertEquals([items?.removed, items?.changed], [1, 1]);
    assert(told.schema.changes.some((one) => JSON.stringify(one).includes('"loose"')));
    assert(told.findings.some(({ code, table }) => code === "missing_pk" && table === "loose"));
    assert(told.findings.every(({ table }) => table !== "items"), "what was found before is not told");
    assertEquals([told.rule, told.hits], [null, []]);
    assertEquals(await names(), ["0001_shop.sql"]);
    assertEquals(await rows("SELECT count(*), max(name) FROM items"), [[3, "pen"]]);
    assertEquals(await copies(app), before);
    await app.deps.query.meter.tick();
    assertEquals([...(await usage(app, acme)).keys()], [acme.database.id], "whose copy was read and written");
  },
  "takes one copy at a time, however many ask": async ({ apply, post, app }) => {
    await apply([SHOP]);
    const { tenants } = app.deps.query;
    const [make, drop] = [tenants.branches.make.bind(tenants.branches), tenants.drop.bind(tenants)];
    let [copies, most] = [0, 0];
    Object.assign(tenants.branches, {
      make: (...asked: Parameters<typeof make>) => {
        most = Math.max(most, ++copies);
        return make(...asked);
      },
    });
    Object.assign(tenants, { drop: (id: string) => drop(id).finally(() => copies--) });
    try {
      const answers = await Promise.all([1, 2, 3].map(() => post([SHOP, CHANGE], { dryRun: true })));
      assertEquals([answers.map(({ status }) => status), most, copies], [[200, 200, 200], 1, 0]);
    } finally {
      Object.assign(tenants.branches, { make });
      Object.assign(tenants, { drop });
    }
  },
  "fails as they would, and leaves no copy": async ({ apply, post, names, app }) => {
    await apply([SHOP]);
    const before = await copies(app);
    const refusal = refusalOf(
      await post([["0002.sql", "CREATE TABLE a (b);\nINSERT INTO items VALUES (1, '')"]], { dryRun: true }),
      400,
      "sql_error",
    );
    assertEquals([refusal["file"], refusal["line"]], ["0002.sql", 2]);
    assertEquals([await names(), await copies(app)], [["0001_shop.sql"], before]);
  },
  "is usage of the database that was copied": async ({ apply, post, app, acme }) => {
    await apply([SHOP]);
    const tried = await post([SHOP, CHANGE], { dryRun: true });
    assertEquals(tried.status, 200);
    // Its row of the log was the copy's, and is gone with it.
    assertEquals(JSON.parse(tried.text).meta.queryLogId, null);
    await app.deps.query.meter.tick();
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const path = `/api/namespaces/${acme.slug}/usage?from=${from}&by=hour`;
    const { data } = JSON.parse((await app.request("GET", path, { token: acme.token })).text);
    const used = new Set(data.map(({ databaseId }: { databaseId: string }) => databaseId));
    assertEquals([...used], [acme.database.id]);
  },
  "of files that are applied has nothing to try": async ({ apply }) => {
    await apply([SHOP]);
    assertEquals((await apply([SHOP], { dryRun: true }))["rehearsal"], null);
  },
  "tells what rules would do, and is held by none": async ({ apply, post, app, acme }) => {
    await apply([SHOP]);
    const told = async (tableGlob: string, effect: string) => {
      const body = { tableGlob, effect };
      const path = `/api/namespaces/${acme.slug}/databases/main/rules`;
      const made = await app.request("POST", path, { token: acme.token, body });
      assertEquals(made.status, 201, made.text);
      const { rule, hits } = rehearsalOf(dataOf(await post([CHANGE], { dryRun: true })));
      return [rule, ...new Set(hits.map(({ table }) => table))];
    };
    assertEquals(await told("items", "require_approval"), ["require_approval", "items"]);
    assertEquals(
      await told("loose", "deny"),
      ["deny", "loose"],
      "what denies ends it, whatever else would hold",
    );
  },
  "is for admins, and no baseline": async ({ post, acme }) => {
    const { token } = await acme.mint("write");
    refusalOf(await post([SHOP], { dryRun: true }, { token }), 403, "role_too_low");
    refusalOf(await post([SHOP], { dryRun: true, baseline: true }), 400, "validation_failed");
  },
});
