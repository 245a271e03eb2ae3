// Tenant files that are damaged, emptied or gone: who notices, what is said, and that a snapshot is all a restore needs.
import { pause } from "../../lib/core/pause.ts";
import { cp } from "node:fs/promises";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const KEY = "operator-key-of-this-test";
/** Databases alike, each for a test of its own: they share the start of a service. */
const SHOPS = ["shop-1", "shop-2", "shop-3", "shop-4"] as const;

interface Shop {
  readonly service: RunningService;
  readonly folder: string;
  readonly token: string;
  readonly slug: string;
  /** Paths of what runs statements and of its record. */
  readonly database: string;
  readonly record: string;
  /** Path of the database's file. */
  readonly file: string;
  call(method: string, path: string, body?: unknown, headers?: ApiRequest["headers"]): Promise<ApiAnswer>;
  query(sql: string, path?: string): Promise<ApiAnswer>;
}

type Damage = (file: string) => Promise<void>;

const settings = { DEMO: "0", OPERATOR_KEY: KEY };

interface Sold {
  readonly folder: string;
  readonly token: string;
  /** Paths of the databases' files in the folder. */
  readonly files: readonly string[];
}

let sold: Sold | null = null;
addEventListener("unload", () => sold && Deno.removeSync(sold.folder, { recursive: true }));

/** What every shop starts from: a snapshot of two items, and a third one sold since. It is made once. */
async function soldItems(): Promise<Sold> {
  if (sold !== null) return sold;
  const folder = await Deno.makeTempDir({ prefix: "cubby_damage_" });
  await using service = await startService({ folder, settings });
  const { token, files } = await sellItems(service);
  assertEquals((await service.stop()).code, 0, service.errors());
  return sold = { folder, token, files };
}

/** `damage` is done to the files of all shops, and the service starts again. */
async function withShops(damage: Damage, body: (shops: readonly Shop[]) => Promise<void>): Promise<void> {
  const { folder: from, token, files } = await soldItems();
  const folder = await Deno.makeTempDir({ prefix: "cubby_damage_" });
  try {
    await cp(from, folder, { recursive: true });
    for (const file of files) await damage(`${folder}/${file}`);
    await using service = await startService({ folder, settings });
    await body(SHOPS.map((slug, at) => {
      const paths = { ...pathsOf(slug), file: `${folder}/${files[at]}` };
      return { service, folder, token, slug, ...paths, ...calls(service, token, slug) };
    }));
    assertEquals(service.errors().includes('"level":"error"'), false, service.errors());
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** One test has the service for itself. */
async function withShop(damage: Damage, body: (shop: Shop) => Promise<void>): Promise<void> {
  await withShops(damage, async ([shop]) => {
    assert(shop);
    await body(shop);
  });
}

/** Each step has a shop of its own. */
async function testShops(
  t: Deno.TestContext,
  damage: Damage,
  steps: Readonly<Record<string, (shop: Shop) => Promise<void>>>,
): Promise<void> {
  await withShops(damage, async (shops) => {
    for (const [at, [name, step]] of Object.entries(steps).entries()) {
      const shop = shops[at];
      assert(shop, "there are as many shops as steps");
      await t.step({ name, fn: () => step(shop), sanitizeOps: false, sanitizeResources: false });
    }
  });
}

function pathsOf(slug: string): Pick<Shop, "database" | "record"> {
  return { database: `/v1/db/acme/${slug}`, record: `/api/namespaces/acme/databases/${slug}` };
}

function calls(service: RunningService, token: string, slug: string): Pick<Shop, "call" | "query"> {
  const app = { request: (path: string, init: RequestInit) => fetch(service.url + path, init) };
  const call: Shop["call"] = (method, path, body, headers = {}) =>
    callApi(app, method, path, { token, headers, ...(body === undefined ? {} : { body }) });
  return { call, query: (sql, path = pathsOf(slug).database) => call("POST", `${path}/query`, { sql }) };
}

async function sellItems(service: RunningService): Promise<Pick<Sold, "token" | "files">> {
  const made = async (path: string, body: unknown) => {
    const answer = await calls(service, KEY, "").call("POST", path, body);
    assertEquals(answer.status, 201, answer.text);
    return answer.body.data as Record<string, string>;
  };
  await made("/api/namespaces", { slug: "acme" });
  const { token = "" } = await made("/api/namespaces/acme/tokens", { name: "test", role: "admin" });
  const files: string[] = [];
  for (const slug of SHOPS) {
    const { id = "" } = await made("/api/namespaces/acme/databases", { slug });
    const { call, query } = calls(service, token, slug);
    await query("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
    await query("INSERT INTO items VALUES (1, 'pen'), (2, 'ink')");
    await call("POST", `${pathsOf(slug).database}/snapshots`, { label: "good" });
    await query("INSERT INTO items VALUES (3, 'cap')");
    files.push(`tenants/${id.slice(-2).toLowerCase()}/${id}.db`);
  }
  return { token, files };
}

async function remove(...files: string[]): Promise<void> {
  for (const file of files) await Deno.remove(file).catch(() => {});
}

/** Overwrites from `start` on, as a disk that lies or a mistaken copy does. */
async function scribble(file: string, start: number, length: number): Promise<void> {
  using open = await Deno.open(file, { read: true, write: true });
  await open.seek(start, Deno.SeekMode.Start);
  await open.write(crypto.getRandomValues(new Uint8Array(length)));
}

const damages: Readonly<Record<string, Damage>> = {
  "a file whose first 16 KB are overwritten": (file) => scribble(file, 0, 16_384),
  "a file that is gone": (file) => remove(file),
  "a file of 0 bytes": (file) => Deno.truncate(file, 0),
};

/** What there is to see of a damaged database; `isThere`: its file is. */
const seenOfDamage = (isThere: boolean): Readonly<Record<string, (shop: Shop) => Promise<void>>> => ({
  "reads and writes are database_corrupt, and the answer says what to do": async (shop) => {
    const { database, record, query, call } = shop;
    for (const sql of ["INSERT INTO items VALUES (4, 'pad')", "SELECT * FROM items"]) {
      const answer = await query(sql);
      assertEquals([answer.status, answer.body.code], [503, "database_corrupt"], `${sql} ${answer.text}`);
      assertStringIncludes(String(answer.body.error), "POST …/restore");
    }
    const one = await call("GET", record);
    assertEquals([one.status, Reflect.get(Object(one.body.data), "state")], [200, "corrupt"]);
    const list = (await call("GET", "/api/namespaces/acme/databases")).body.data;
    const listed = (list as { slug: string; state: string }[]).filter(({ slug }) => slug === shop.slug);
    assertEquals(listed.map(({ state }) => state), ["corrupt"]);
    const doctor = await call("GET", `${database}/doctor`);
    assertEquals(doctor.status, 200, doctor.text);
    const { findings } = doctor.body.data as { findings: { code: string; suggestion: string }[] };
    assertEquals(findings.map(({ code }) => code), ["damaged_database"]);
    // What the doctor suggests is what helps.
    const [, method = "", path = "", body = ""] = /^(\S+) (\S+) (.+)$/.exec(findings[0]?.suggestion ?? "") ??
      [];
    const restored = await call(method, path, JSON.parse(body));
    assertEquals(restored.status, 200, restored.text);
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id")), [[1], [2]]);
    const after = await call("GET", record);
    assertEquals(Reflect.get(Object(after.body.data), "state"), "ok");
  },
  "any rule is asked before a snapshot comes back": async ({ service, database, record, query, call }) => {
    const rule = async (body: unknown) => {
      const answer = await call("POST", `${record}/rules`, body);
      assertEquals(answer.status, 201, answer.text);
      return String(Reflect.get(Object(answer.body.data), "id"));
    };
    const restore = () => call("POST", `${database}/restore`, { snapshot: "good" });
    const denying = await rule({ tableGlob: "other", effect: "deny" });
    const denied = await restore();
    assertEquals([denied.status, denied.body.code], [403, "rule_denied"], denied.text);
    await call("DELETE", `${record}/rules/${denying}`);
    await rule({ tableGlob: "other", effect: "require_approval" });
    const held = await restore();
    assertEquals([held.status, held.body.code], [403, "approval_required"], held.text);
    const { approvalToken, approvalUrl } = JSON.parse(held.text);
    const path = `/api/namespaces/acme/approvals/${approvalUrl.split("/").at(-1)}/approve`;
    assertEquals((await calls(service, KEY, "").call("POST", path)).status, 200);
    const redeemed = await call("POST", `${database}/redeem_approval`, { approvalToken });
    assertEquals(redeemed.status, 200, redeemed.text);
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id")), [[1], [2]]);
  },
  "a snapshot comes back over it, which is kept under a name": async (
    { slug, database, file, query, call },
  ) => {
    const restore = () =>
      call("POST", `${database}/restore`, { snapshot: "good" }, {
        "plan-key": "mend",
        "plan-step": "restore",
      });
    const answer = await restore();
    assertEquals(answer.status, 200, answer.text);
    const { undo, setAside } = answer.body.data as { undo: null; setAside: string | null };
    assertEquals(undo, null);
    assertEquals(setAside !== null, isThere);
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id")), [[1], [2]]);
    const log = await query(
      "SELECT q.sql FROM _service_meta_audit a JOIN _service_meta_query_log q ON q.id = a.query_log_id " +
        "WHERE a.operation = 'restore'",
    );
    if (setAside === null) return assertEquals(rowsOf(log), [[`-- snapshot good of ${slug}`]]);
    assertMatch(setAside, /^damaged-\d{8}T\d{9}Z$/);
    assertEquals((await Deno.stat(file.replace(/\.db$/, `.damaged/${setAside}.db`))).isFile, true);
    assertStringIncludes(String(rowsOf(log)[0]?.[0]), setAside);
    assertEquals((await query("INSERT INTO items VALUES (3, 'again')")).status, 200);
    // As a step of a plan it restores once.
    assertEquals((await restore()).body.data, answer.body.data);
    assertEquals(rowsOf(await query("SELECT count(*) FROM items")), [[3]]);
  },
  "a snapshot becomes a new database beside it": async ({ database, query, call }) => {
    const answer = await call("POST", `${database}/restore`, { snapshot: "good", into: "other" });
    assertEquals(answer.status, 201, answer.text);
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id", "/v1/db/acme/other")), [[1], [2]]);
  },
});

for (const [what, damage] of Object.entries(damages)) {
  Deno.test(`what is said of ${what}, and what helps`, async (t) => {
    await testShops(t, damage, seenOfDamage(what !== "a file that is gone"));
  });
}

const nothing: Damage = () => Promise.resolve();

Deno.test("a write is database_corrupt when it meets damage that was done while the service runs", async (t) => {
  const meeting = (damage: Damage) => async ({ database, file, query, call }: Shop) => {
    assertEquals(rowsOf(await query("SELECT count(*) FROM items")), [[3]]);
    await damage(file);
    const answer = await query("INSERT INTO items VALUES (4, 'pad')");
    assertEquals([answer.status, answer.body.code], [503, "database_corrupt"], answer.text);
    const restored = await call("POST", `${database}/restore`, { snapshot: "good" });
    assertEquals(restored.status, 200, restored.text);
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id")), [[1], [2]]);
  };
  await testShops(
    t,
    nothing,
    Object.fromEntries(Object.entries(damages).map(([what, damage]) => [what, meeting(damage)])),
  );
});

Deno.test("a snapshot that is the damaged thing is said so in one line, and nothing has changed", async () => {
  const spoil: Damage = async (file) => {
    const folder = file.replace(/\.db$/, ".snapshots");
    for await (const { name } of Deno.readDir(folder)) {
      if (name.endsWith(".good.db")) await scribble(`${folder}/${name}`, 0, 16_384);
      if (name.endsWith(".good.db-wal")) await Deno.remove(`${folder}/${name}`);
    }
  };
  await withShop(spoil, async ({ database, query, call }) => {
    for (const more of [{}, { into: "other" }]) {
      const answer = await call("POST", `${database}/restore`, { snapshot: "good", ...more });
      assertEquals([answer.status, answer.body.code], [503, "snapshot_corrupt"], answer.text);
    }
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id")), [[1], [2], [3]]);
    assertEquals((await call("GET", "/api/namespaces/acme/databases/other")).status, 404);
  });
});

Deno.test("the log names a database whose file cannot be opened, and why, and it is served once it can be", async () => {
  // As a folder of another user, of which root takes no notice, or a disk that is missing.
  const lead = async (file: string) => {
    await Deno.rename(file, `${file}.away`);
    await Deno.symlink(file, file);
  };
  await withShop(lead, async ({ file, query, service }) => {
    const answer = await query("SELECT id FROM items");
    assertEquals([answer.status, answer.body.code], [503, "store_unavailable"], answer.text);
    const [line = ""] = service.errors().split("\n").filter((one) => one.includes("database_unavailable"));
    const id = file.replace(/^.*\/(.*)\.db$/, "$1");
    assertStringIncludes(line, `"databaseId":"${id}"`);
    assertStringIncludes(line, '"reason":"FilesystemLoop"');
    await Deno.rename(`${file}.away`, file);
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id")), [[1], [2], [3]]);
  });
});

Deno.test("snapshots whose folder cannot be read are not listed, taken or restored, and the log names their database", async () => {
  // As a folder of another user, of which root takes no notice, or a disk that is missing.
  const lead = async (file: string) => {
    const folder = file.replace(/\.db$/, ".snapshots");
    await Deno.rename(folder, `${folder}.away`);
    await Deno.symlink(folder, folder);
  };
  await withShop(lead, async ({ file, database, call, query, service }) => {
    const asked = [
      ["GET", "snapshots"],
      ["POST", "snapshots", { label: "next" }],
      ["POST", "restore", { snapshot: "good" }],
      ["POST", "restore", { snapshot: "good", into: "other" }],
    ] as const;
    for (const [method, path, body] of asked) {
      const answer = await call(method, `${database}/${path}`, body);
      assertEquals([answer.status, answer.body.code], [503, "store_unavailable"], `${path}: ${answer.text}`);
    }
    const id = file.replace(/^.*\/(.*)\.db$/, "$1");
    const line = `"event":"snapshots_unavailable","databaseId":"${id}","reason":"FilesystemLoop"`;
    assertStringIncludes(service.errors(), line);
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id")), [[1], [2], [3]]);
    const dropped = await query("DROP TABLE items");
    assertEquals([dropped.status, dropped.body.code], [503, "store_unavailable"], dropped.text);
    const folder = file.replace(/\.db$/, ".snapshots");
    await Deno.remove(folder);
    await Deno.rename(`${folder}.away`, folder);
    assertEquals((await call("POST", `${database}/restore`, { snapshot: "good" })).status, 200);
  });
});

Deno.test("a database that was made and never written is there after a kill and a start", async () => {
  await withShop(nothing, async ({ call, folder, service, token }) => {
    assertEquals((await call("POST", "/api/namespaces/acme/databases", { slug: "new" })).status, 201);
    await service.kill();
    await using again = await startService({ folder, settings });
    const after = calls(again, token, "new");
    const one = await after.call("GET", pathsOf("new").record);
    assertEquals(Reflect.get(Object(one.body.data), "state"), "ok");
    assertEquals(rowsOf(await after.query("SELECT 1")), [[1]]);
  });
});

Deno.test("log and audit rows that can still be read in a damaged file are there after the restore", async () => {
  // The last page is one of a table of the shop: the service's own come first.
  const cutShort: Damage = async (file) => await scribble(file, (await Deno.stat(file)).size - 4096, 4096);
  await withShop(cutShort, async ({ database, query, call }) => {
    const counted = "SELECT (SELECT count(*) FROM _service_meta_audit WHERE operation = 'query'), " +
      "(SELECT count(*) FROM _service_meta_query_log WHERE sql LIKE 'INSERT%')";
    const before = rowsOf(await query(counted));
    assertEquals((await query("SELECT * FROM items")).body.code, "database_corrupt");
    const restored = await call("POST", `${database}/restore`, { snapshot: "good" });
    assertMatch(String(Reflect.get(Object(restored.body.data), "setAside")), /^damaged-/, restored.text);
    assertEquals(rowsOf(await query(counted)), before);
    assertEquals(rowsOf(await query("SELECT id FROM items ORDER BY id")), [[1], [2]]);
  });
});

Deno.test("no more than five damaged files of a database are kept", async () => {
  await withShop(nothing, async ({ database, file, call, query }) => {
    const names: string[] = [];
    for (let round = 0; round < 7; round++) {
      await query("SELECT 1");
      await Deno.truncate(file, 0);
      const { data } = (await call("POST", `${database}/restore`, { snapshot: "good" })).body;
      names.push(`${Reflect.get(Object(data), "setAside")}.db`);
    }
    const folder = file.replace(/\.db$/, ".damaged");
    const kept = async () =>
      (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).filter((name) =>
        name.endsWith(".db")
      )
        .sort();
    // What is too much goes soon.
    for (let look = 0; look < 200 && (await kept()).length > 5; look++) {
      await pause(25);
    }
    assertEquals(await kept(), names.slice(-5));
  });
});
