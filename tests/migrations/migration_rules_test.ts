// Rules over migrations: they decide about all files together, and an approval is bound to the files and the schema.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertReplay, step } from "../replay/keyed.ts";
import { testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { type Held, heldBy } from "../writes/write_world.ts";
import { dataOf, type File, type MigrationWorld, migrationWorld, refusalOf } from "./migration_world.ts";

const NOTES: File = ["0001_notes.sql", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT);"];
const TAGS: File = [
  "0002_tags.sql",
  "CREATE TABLE tags (id INTEGER PRIMARY KEY);\nINSERT INTO tags VALUES (1), (2);",
];
const EMPTY: File = ["0003_empty.sql", "DELETE FROM notes;\nALTER TABLE notes ADD COLUMN more;"];

interface RuledWorld extends MigrationWorld {
  rule(settings: Readonly<Record<string, unknown>>): Promise<void>;
  person(verb: string, held: Held): Promise<Record<string, unknown>>;
  redeem(held: Held, token?: string): ReturnType<MigrationWorld["post"]>;
}

/** `notes` with three rows, made by a migration. */
async function ruledWorld(app: StartedApp, slug: string): Promise<RuledWorld> {
  const world = await migrationWorld(app, slug);
  await world.apply([NOTES]);
  await world.acme.setup("INSERT INTO notes (body) VALUES ('a'), ('b'), ('c')");
  const person = async (method: string, id: string, body?: unknown) =>
    dataOf(
      await app.request(method, `/api/namespaces/${slug}/approvals/${id}`, {
        token: app.operatorKey,
        ...(body ? { body } : {}),
      }),
    );
  return {
    ...world,
    rule: async (settings) => {
      const body = { tableGlob: "notes", effect: "require_approval", ...settings };
      const made = await app.request("POST", `/api/namespaces/${slug}/databases/main/rules`, {
        token: world.acme.token,
        body,
      });
      assertEquals(made.status, 201, made.text);
    },
    person: async (verb, { id }) => {
      const shown = await person("GET", id);
      if (verb === "show") return shown;
      return await person("POST", `${id}/${verb}`, verb === "look" ? undefined : { look: shown["look"] });
    },
    redeem: ({ approvalToken }, token = world.acme.token) =>
      app.request("POST", `${world.acme.database.path}/redeem_approval`, { token, body: { approvalToken } }),
  };
}

const STATE = "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM sqlite_schema WHERE name = 'tags')";

testSteps("migrations under rules", ruledWorld, {
  "that a rule denies do nothing at all, not even the files before": async ({ rule, post, names, rows }) => {
    await rule({ effect: "deny", actions: ["delete"] });
    const refusal = refusalOf(await post([NOTES, TAGS, EMPTY]), 403, "rule_denied");
    assertEquals([refusal["applied"], refusal["pending"]], [[], ["0002_tags.sql", "0003_empty.sql"]]);
    assertEquals([await names(), await rows(STATE)], [["0001_notes.sql"], [[3, 0]]]);
  },
  "that a rule denies are told with all that are still to be applied": async ({ rule, post, names }) => {
    await rule({ effect: "deny", actions: ["delete"] });
    const off: File = ["0004_off.sql", "PRAGMA foreign_keys=OFF;\nCREATE TABLE off (a);"];
    const refusal = refusalOf(await post([NOTES, EMPTY, off]), 403, "rule_denied");
    assertEquals(refusal["pending"], ["0003_empty.sql", "0004_off.sql"]);
    const later: File = ["0005_later.sql", EMPTY[1]];
    const second = refusalOf(await post([NOTES, off, later]), 403, "rule_denied");
    assertEquals([second["applied"], second["pending"]], [["0004_off.sql"], ["0005_later.sql"]]);
    assertEquals(await names(), ["0001_notes.sql", "0004_off.sql"]);
  },
  "that are a step of a plan are answered as they ran, whoever resumes it": async (
    { rule, post, person, redeem, names },
  ) => {
    await rule({});
    const send = () => post([NOTES, TAGS, EMPTY], {}, step("release", "migrate"));
    const held = heldBy(await send());
    await person("approve", held);
    const ran = await redeem(held);
    for (let n = 0; n < 2; n++) assertReplay(ran, await send(), "plan-replayed");
    assertEquals((await names()).length, 3);
  },
  "have a snapshot before them where a person wants one": async ({ app, acme, post, redeem, rule }) => {
    await rule({});
    const snapshots = [];
    const files = [NOTES];
    for (const snapshot of [false, true]) {
      files.push([`000${files.length + 1}_more.sql`, "INSERT INTO notes (body) VALUES ('d')"]);
      const held = heldBy(await post(files));
      const path = `/api/namespaces/${acme.slug}/approvals/${held.id}/approve`;
      const approved = await app.request("POST", path, {
        token: app.operatorKey,
        body: { look: 0, snapshot },
      });
      assertEquals(approved.status, 200, approved.text);
      const applied = await redeem(held);
      assertEquals(applied.status, 200, applied.text);
      snapshots.push(applied.body.meta?.["snapshot"]);
    }
    assertEquals([snapshots[0], typeof snapshots[1]], [null, "string"]);
  },
  "wait together, are shown with their files, and are applied once when a person has approved": async (
    { rule, post, person, redeem, names, rows, apply },
  ) => {
    await rule({});
    const held = heldBy(await post([NOTES, TAGS, EMPTY]));
    assertEquals(await rows(STATE), [[3, 0]]);
    const again = heldBy(await post([NOTES, TAGS, EMPTY]));
    assertEquals(again.approvalToken, held.approvalToken);
    const shown = await person("show", held);
    assertEquals(shown["operation"], "migrate");
    assert(Array.isArray(shown["migrations"]));
    assertEquals(shown["migrations"].map(({ name, statements }) => [name, statements]), [
      ["0002_tags.sql", 2],
      ["0003_empty.sql", 2],
    ]);
    assertEquals(Object(shown["preview"]).before?.length, 3);
    refusalOf(await redeem(held), 409, "approval_pending");
    await person("approve", held);
    const done = dataOf(await redeem(held));
    assertEquals([done["applied"], done["pending"]], [["0002_tags.sql", "0003_empty.sql"], []]);
    assertMatch(String(done["snapshot"]), /^auto-/);
    assertEquals([await names(), await rows(STATE)], [["0001_notes.sql", "0002_tags.sql", "0003_empty.sql"], [
      [0, 1],
    ]]);
    refusalOf(await redeem(held), 404, "approval_not_found");
    assertEquals((await apply([NOTES, TAGS, EMPTY]))["applied"], []);
    const ran = Object((await person("show", held))["outcome"]);
    assertEquals([ran.kind, ran.snapshot], ["ran", done["snapshot"]]);
  },
  "are not applied to another schema than the person saw": async (
    { rule, post, person, redeem, acme, names, rows },
  ) => {
    await rule({ actions: ["delete"] });
    const held = heldBy(await post([NOTES, EMPTY]));
    await person("approve", held);
    await acme.setup("CREATE TABLE aside (a)");
    refusalOf(await redeem(held), 409, "effect_changed");
    assertEquals([await names(), (await person("show", held))["state"]], [["0001_notes.sql"], "pending"]);
    await person("approve", held);
    assertEquals(dataOf(await redeem(held))["applied"], ["0003_empty.sql"]);
    assertEquals((await rows(STATE))[0]?.[0], 0);
  },
  "are not applied behind other files than the person saw": async (
    { rule, post, person, redeem, apply, names },
  ) => {
    await rule({ actions: ["delete"] });
    const held = heldBy(await post([NOTES, EMPTY]));
    await person("approve", held);
    await apply([["0002_data.sql", "INSERT INTO notes (body) VALUES ('d')"]]);
    refusalOf(await redeem(held), 409, "effect_changed");
    const looked = await person("show", held);
    assertEquals([looked["state"], Object(looked["preview"]).before?.length], ["pending", 4]);
    assertEquals(await names(), ["0001_notes.sql", "0002_data.sql"]);
  },
  "that fail when they are redeemed leave nothing, and their approval is used up and says why": async (
    { rule, post, person, redeem, acme, names, rows },
  ) => {
    await acme.setup("CREATE TABLE seen (id INTEGER PRIMARY KEY)");
    await rule({ actions: ["delete"] });
    const held = heldBy(await post([["0002_seen.sql", "DELETE FROM notes;\nINSERT INTO seen VALUES (1);"]]));
    await person("approve", held);
    await acme.setup("INSERT INTO seen VALUES (1)");
    refusalOf(await redeem(held), 400, "sql_error");
    assertEquals([await names(), (await rows(STATE))[0]?.[0]], [["0001_notes.sql"], 3]);
    const { state, outcome } = await person("show", held);
    assertEquals([state, Object(outcome).kind, Object(outcome).code], ["redeemed", "failed", "sql_error"]);
    refusalOf(await redeem(held), 404, "approval_not_found");
  },
  "of another token are not redeemed": async ({ rule, post, person, redeem, acme }) => {
    await rule({});
    const held = heldBy(await post([EMPTY]));
    await person("approve", held);
    const other = await acme.mint("admin");
    refusalOf(await redeem(held, other.token), 403, "not_yours");
  },
  "that change fewer rows than a rule holds pass": async ({ rule, apply }) => {
    await rule({ minRows: 10, actions: ["delete"] });
    assertEquals((await apply([["0002.sql", "DELETE FROM notes WHERE id = 1"]]))["applied"], ["0002.sql"]);
  },
  "are decided about although others change the schema, as statements are": async (
    { app, acme, rule, apply },
  ) => {
    await rule({ minRows: 10, actions: ["delete"] });
    let changes = 7;
    const { tenants } = app.deps;
    const open = tenants.open.bind(tenants);
    tenants.open = (...ids) => {
      const database = open(...ids);
      const run: typeof database.run = async (call) => {
        // The rule looks at the files by a dry run.
        if (call.dryRun && changes-- > 0) await acme.setup(`CREATE TABLE other_${changes} (a)`);
        return await database.run(call);
      };
      return new Proxy(database, {
        get: (_, name) => {
          const member = name === "run" ? run : Reflect.get(database, name);
          return typeof member === "function" ? member.bind(database) : member;
        },
      });
    };
    try {
      const files: File[] = [["0002.sql", "DELETE FROM notes WHERE id = 1"]];
      assertEquals((await apply(files))["applied"], ["0002.sql"]);
    } finally {
      tenants.open = open;
    }
    assertEquals(changes < 0, true);
  },
  "that fail are told so, whatever a rule would say": async ({ rule, post }) => {
    await rule({});
    const refusal = refusalOf(
      await post([["0002.sql", "SELECT 1; INSERT INTO notes VALUES (1, 'a')"]]),
      400,
      "sql_error",
    );
    assertEquals([refusal["file"], refusal["failedIndex"]], ["0002.sql", 1]);
  },
  "with and without foreign keys are decided about apart, because in one of them rows cascade": async (
    { rule, post, acme, names, rows, person, redeem, apply },
  ) => {
    await acme.setup(
      "CREATE TABLE lines (note INTEGER REFERENCES notes (id) ON DELETE CASCADE)",
      "INSERT INTO lines VALUES (1)",
    );
    const files: File[] = [["0002.sql", "DELETE FROM notes WHERE id = 1"], [
      "0003.sql",
      "PRAGMA foreign_keys=OFF; CREATE TABLE c (a)",
    ]];
    await rule({ tableGlob: "lines" });
    const held = heldBy(await post(files));
    await person("approve", held);
    assertEquals(dataOf(await redeem(held))["applied"], ["0002.sql"]);
    assertEquals((await apply(files))["applied"], ["0003.sql"]);
    assertEquals([(await names()).length, await rows("SELECT count(*) FROM lines")], [3, [[0]]]);
  },
  "as a baseline change no rows, so that no rule is about them": async ({ rule, apply }) => {
    await rule({ effect: "deny" });
    assertEquals((await apply([EMPTY], { baseline: true }))["applied"], ["0003_empty.sql"]);
  },
});
