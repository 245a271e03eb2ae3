// A disk without room, under the real process: reads go on, writes say why not, and all is well when there is room again.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { startService } from "../testing/start_service.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import {
  calls,
  DATABASE,
  KEY,
  leftIn,
  onSmallDisks,
  settings,
  type Shop,
  stepsOnSmallDisks,
  until,
} from "./small_disk_shop.ts";

async function used(call: Shop["call"]): Promise<number> {
  const { data } = (await call("GET", "/api/namespaces/acme/usage?by=day")).body;
  assert(Array.isArray(data), "usage is no list");
  return data.reduce((sum: number, one) => sum + Number(one.requests), 0);
}

/** Texts that are told apart in more than the memory for it. */
const APART = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) " +
  "SELECT count(DISTINCT printf('%090d', i)) FROM n";

const BIG = "INSERT INTO items SELECT NULL, hex(zeroblob(200000))";

/** Of all databases, with what is in their folders. */
async function tenantFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await tenantFiles(`${folder}/${name}`));
    else found.push(`${folder}/${name}`);
  }
  return found.sort();
}

/** What ends as it began: on the disk of one service, with a database of their own. */
const steps: Readonly<Record<string, (shop: Shop) => Promise<void>>> = {
  // The first, because what has been told is not told again for a while.
  "a full disk is told in a few lines, not in one for each call": async ({ disk, service, query }) => {
    await disk.fill(service.pid);
    for (let call = 0; call < 300; call++) assertEquals((await query("SELECT 1")).status, 200);
    // It needs the rows of those calls in their table.
    assertEquals((await query("SELECT count(*) FROM _service_meta_query_log")).status, 200);
    await pause(1000);
    const lines = service.errors().split("\n").filter((line) => line !== "");
    assert(lines.length > 0 && lines.length < 15, service.errors());
    assertEquals(lines.filter((line) => line.includes('"level":"error"')), []);
    await disk.makeRoom(service.pid);
  },
  "on a full disk reads go on, writes and records of the control plane are storage_full, and it ends by itself":
    async ({ disk, service, call, query }) => {
      await disk.fill(service.pid);
      assertEquals([(await query(BIG)).body.code], ["storage_full"]);
      const told =
        /"event":"storage_failed","op":"write","reason":"(?:disk I\/O error|database or disk is full)"/;
      assert(told.test(service.errors()), service.errors());
      for (let look = 0; look < 20; look++) {
        const read = await query("SELECT count(*) FROM items");
        assertEquals([read.status, read.text.includes("[[2]]")], [200, true], read.text);
        await pause(100);
      }
      assertEquals((await query("SELECT 1", { "idempotency-key": "again" })).status, 200);
      // What a read cannot hold in memory needs room as well.
      const sorted = await query(APART);
      assertEquals([sorted.status, sorted.body.code], [503, "storage_full"], sorted.text);
      const tokens = await call("POST", "/api/namespaces/acme/tokens", { name: "late", role: "read" });
      assertEquals([tokens.status, tokens.body.code], [503, "storage_full"], tokens.text);
      await disk.makeRoom(service.pid);
      await until(() => query(BIG), 200);
    },
  "a statement whose snapshot finds no room is told that it can do without": async (
    { disk, service, query },
  ) => {
    await disk.fill(service.pid);
    const hintOf = async (headers?: Record<string, string>) => {
      const { body } = await query("DROP TABLE items", headers);
      assertEquals(body.code, "storage_full");
      return String(Reflect.get(Object(body.errorDetail), "hint"));
    };
    assertMatch(await hintOf(), /make room.*X-Service-No-Snapshot: 1 does without/);
    assertMatch(await hintOf({ "x-service-no-snapshot": "1" }), /make room[^;]*$/);
    await disk.makeRoom(service.pid);
  },
  "readyz names the full parts, and is ready again when there is room": async ({ disk, service, call }) => {
    await until(() => call("GET", "/readyz"), 200);
    await disk.fill(service.pid);
    const answer = await until(() => call("GET", "/readyz"), 503);
    await pause(1500);
    const { body } = await call("GET", "/readyz");
    const both = ["kv", "tenants"];
    const told = [body.code, Reflect.get(body, "notReady"), Reflect.get(body, "full")];
    assertEquals(told, ["not_ready", both, both], answer.text);
    assertMatch(String(body.error), /Make room/);
    await disk.makeRoom(service.pid);
    await until(() => call("GET", "/readyz"), 200);
  },
  "snapshots and restores that find no room are storage_full, and leave nothing behind": async (
    { disk, service, call, query },
  ) => {
    assertEquals((await query(BIG)).status, 200);
    const taken = await call("POST", `${DATABASE}/snapshots`, { label: "before" });
    assertEquals(taken.status, 201, taken.text);
    const before = await tenantFiles(`${disk.folder}/tenants`);
    await disk.fill(service.pid);
    const snapshot = await call("POST", `${DATABASE}/snapshots`, { label: "full" });
    assertEquals([snapshot.status, snapshot.body.code], [503, "storage_full"], snapshot.text);
    const restored = await call("POST", `${DATABASE}/restore`, { snapshot: "before" });
    assertEquals([restored.status, restored.body.code], [503, "storage_full"], restored.text);
    assertEquals(await tenantFiles(`${disk.folder}/tenants`), before);
    await disk.makeRoom(service.pid);
    await until(() => call("POST", `${DATABASE}/restore`, { snapshot: "before" }), 200);
  },
  "a branch and a database are deleted on a full disk, and what the branch held is room for others": async (
    { disk, service, call, query },
  ) => {
    const claimed = await call("POST", `${DATABASE}/claim_branch`, { purpose: "a trial", ref: "trial" });
    assertEquals(claimed.status, 201, claimed.text);
    for (let row = 0; row < 5; row++) {
      const sql = "INSERT INTO items SELECT NULL, hex(randomblob(500000))";
      assertEquals((await call("POST", `${DATABASE}@trial/query`, { sql })).status, 200);
    }
    await disk.fill(service.pid);
    assertEquals((await query(BIG)).body.code, "storage_full");
    // A limit of file sizes gives no room to anybody, whatever is removed.
    const isFull = disk.kind === "file system";
    const deleted = await call("DELETE", `${DATABASE}/branches/trial`);
    assertEquals(deleted.status, isFull ? 200 : 503, deleted.text);
    if (isFull) {
      await until(() => query(BIG), 200);
      await disk.fill(service.pid);
    } else await disk.makeRoom(service.pid);
    const { call: operate } = calls(service, KEY);
    const gone = await operate("DELETE", "/api/namespaces/acme/databases/shop", { confirm: "shop" });
    assertEquals(gone.status, 200, gone.text);
    if (isFull) await disk.makeRoom(service.pid);
  },
  "exports and imports that find no room are storage_full, leave nothing behind, and go well when there is room":
    async ({ disk, service, call, query }) => {
      await query(BIG);
      const names = Array.from({ length: 60 }, (_, at) => `t${at}`);
      const dump = names.map((name) => `CREATE TABLE ${name} (v);`).join("\n");
      const exported = (format: string) => call("GET", `${DATABASE}/export?format=${format}`);
      const imported = () => call("POST", `${DATABASE}/import?format=sql&mode=replace`, dump);
      await disk.fill(service.pid);
      for (const format of ["sqlite", "sql"]) {
        const answer = await exported(format);
        assertEquals([answer.status, answer.body.code], [503, "storage_full"], answer.text.slice(0, 300));
      }
      const refused = await imported();
      assertEquals([refused.status, refused.body.code], [503, "storage_full"], refused.text);
      const { status, text } = await query("SELECT count(*) FROM items");
      assertEquals([status, text.includes("[[3]]")], [200, true], text);
      assertEquals(leftIn(`${disk.folder}/tenants/transfers`), []);
      await disk.makeRoom(service.pid);
      assertEquals((await until(() => query("DELETE FROM items WHERE id = 1"), 200)).status, 200);
      assert((await exported("sql")).text.includes("CREATE TABLE items"));
      // An upload leaves room to everybody else, which a disk of this size does not have.
      assertEquals((await imported()).status, disk.kind === "file system" ? 503 : 200);
    },
  "a published read that nobody has called before answers on a full disk": async (
    { disk, service, call },
  ) => {
    const endpoints = "/api/namespaces/acme/databases/shop/endpoints";
    await call("POST", `${endpoints}/scaffold-crud`, { table: "items", operations: ["list"] });
    const published = await call("POST", `${endpoints}/list-items/publish`);
    assertEquals(published.status, 200, published.text);
    await disk.fill(service.pid);
    const listed = await call("GET", "/p/acme/shop/list-items");
    assertEquals([listed.status, JSON.parse(listed.text).rows], [200, [[1, "pen"], [2, "ink"]]], listed.text);
    await disk.makeRoom(service.pid);
  },
  "a backup that finds no room is storage_full, leaves nothing behind, and goes well when there is room":
    async ({ disk, service, query }) => {
      const { call } = calls(service, KEY);
      const backup = () => call("GET", "/api/backup");
      // More than fits into a file on a disk that only limits those.
      for (let at = 0; at < 40; at++) {
        const made = await call("POST", "/api/namespaces/acme/tokens", { name: `t${at}`, role: "read" });
        assertEquals(made.status, 201, made.text);
      }
      await disk.fill(service.pid);
      for (let look = 0; look < 3; look++) {
        const refused = await backup();
        assertEquals([refused.status, refused.body.code], [503, "storage_full"], refused.text.slice(0, 300));
      }
      assertEquals(leftIn(`${disk.folder}/backups`), []);
      const read = await query("SELECT count(*) FROM items");
      assertEquals([read.status, read.text.includes("[[2]]")], [200, true], read.text);
      await disk.makeRoom(service.pid);
      await until(backup, 200);
      assertEquals(leftIn(`${disk.folder}/backups`), []);
    },
};

Deno.test("a disk that is full for a while", (t) => stepsOnSmallDisks(t, steps));

Deno.test("a service that starts on a full disk serves reads, and what they cost is booked when there is room", async () => {
  await onSmallDisks(async ({ disk, service, token, call }) => {
    await pause(1500);
    const before = await used(call);
    await disk.fill(service.pid);
    await service.kill();
    await using again = await startService({
      folder: disk.folder,
      launcher: disk.launcherWhenFull,
      settings,
    });
    const after = calls(again, token);
    for (let read = 0; read < 20; read++) {
      const answer = await after.query("SELECT count(*) FROM items");
      assertEquals([answer.status, rowsOf(answer)], [200, [[2]]]);
    }
    assertEquals((await after.query(BIG)).body.code, "storage_full");
    await disk.makeRoom(again.pid);
    await until(() => after.query("INSERT INTO items VALUES (3, 'cap')"), 200);
    let booked = 0;
    for (let look = 0; look < 50 && booked < before + 21; look++) {
      await pause(200);
      booked = await used(after.call);
    }
    assert(booked >= before + 21, `${booked} requests are booked, ${before} were before`);
    const { data } = (await after.call("GET", "/api/namespaces/acme/balance")).body;
    assertEquals(Reflect.get(Object(data), "writtenOffUsd"), 0);
  });
});

Deno.test("a service that was stopped starts on a disk that was filled meanwhile, and serves reads", async () => {
  await onSmallDisks(async ({ disk, service, token }) => {
    assertEquals((await service.stop()).code, 0, service.errors());
    if (disk.kind === "file system") await disk.fill(service.pid);
    await using again = await startService({
      ...{ folder: disk.folder, launcher: disk.launcherWhenFull, settings },
    });
    const answer = await calls(again, token).query("SELECT count(*) FROM items");
    assertEquals([answer.status, answer.text.includes("[[2]]")], [200, true], answer.text);
  });
});

Deno.test("databases that are closed when the disk becomes full are read all the same", async () => {
  await onSmallDisks(async ({ disk, service, token, call }) => {
    const slugs = Array.from({ length: 20 }, (_, at) => `closed-${at}`);
    for (const slug of slugs) {
      const made = await calls(service, KEY).call("POST", "/api/namespaces/acme/databases", { slug });
      assertEquals(made.status, 201, made.text);
      const sql = "CREATE TABLE items AS SELECT 7 AS id";
      assertEquals((await call("POST", `/v1/db/acme/${slug}/query`, { sql })).status, 200);
    }
    assertEquals((await service.stop()).code, 0, service.errors());
    await using again = await startService({ folder: disk.folder, launcher: disk.launcher, settings });
    const after = calls(again, token);
    assertEquals((await after.query("SELECT count(*) FROM items")).status, 200);
    await disk.fill(again.pid);
    for (const slug of slugs) {
      const answer = await after.call("POST", `/v1/db/acme/${slug}/query`, { sql: "SELECT id FROM items" });
      assertEquals([answer.status, rowsOf(answer)], [200, [[7]]], `${slug}: ${answer.text}`);
    }
    assertEquals((await after.query(BIG)).body.code, "storage_full");
    await disk.makeRoom(again.pid);
    await until(() => after.query(BIG), 200);
  });
});

Deno.test("where children cannot write to any file, calls say so, the log stays one of JSON, and it ends by itself", async () => {
  await onSmallDisks(async ({ disk, service, query }) => {
    if (disk.refuse === undefined) return;
    assertEquals((await query("SELECT 1")).status, 200);
    await disk.refuse(service.pid);
    for (const sql of ["SELECT 1", BIG, "SELECT 2"]) {
      const { status, body, text } = await query(sql);
      assertEquals([status, body.code], [503, "storage_full"], text);
      assertMatch(String(body.error), /full or cannot be written/);
    }
    await disk.makeRoom(service.pid);
    await until(() => query("SELECT 1"), 200);
    for (const line of service.errors().split("\n").filter((one) => one !== "")) JSON.parse(line);
  });
});
