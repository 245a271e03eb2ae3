// Moments of an archived database over HTTP: what they cost, and that a database that was deleted has them again.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { AppError } from "../../lib/core/errors.ts";
import { startApp } from "../testing/start_app.ts";
import { member, rowsOf } from "../testing/test_namespace.ts";

Deno.test("a moment is brought back for nothing, also of a database that was deleted and is back", async () => {
  const folder = await Deno.makeTempDir();
  const app = await startApp({ settings: { TENANTS_URL: "file:", ARCHIVE_URL: `file:${folder}/archive` } });
  try {
    const acme = await app.namespace();
    const { path } = acme.database;
    const ask = (method: string, to: string, body?: unknown, token = acme.token) =>
      app.request(method, to, { token, ...(body === undefined ? {} : { body }) });
    const other = await acme.createDatabase("other");
    const status = await ask("GET", `${other.path}/archive`);
    const none = { archivedFrom: null, archivedUntil: null, lagMs: null, problem: null };
    assertEquals(status.body.data, { on: true, ...none });

    await acme.setup("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)");
    const first = await ask("POST", `${path}/restore`, { at: new Date().toISOString(), into: "first" });
    assert([201, 404].includes(first.status), first.text);
    const at = new Date().toISOString();
    await pause(3);
    await acme.setup("DELETE FROM t");

    const main = "/api/namespaces/acme/databases/main";
    const deleted = await ask("DELETE", main, { confirm: "main" }, app.operatorKey);
    assertEquals(deleted.status, 200, deleted.text);
    const back = await ask(
      "POST",
      "/api/namespaces/acme/databases/restore",
      { slug: "main" },
      app.operatorKey,
    );
    assertEquals(back.status, 200, back.text);

    const spent = async () => (await ask("GET", "/api/namespaces/acme/balance")).text;
    const before = await spent();
    const restored = await ask("POST", `${path}/restore`, { at });
    assertEquals(restored.status, 200, restored.text);
    assert(member(restored, "undo"));
    assertEquals(await spent(), before);
    assertEquals(rowsOf(await acme.query("SELECT a FROM t")), [[1]]);

    // A new database that cannot be made leaves no snapshot of the moment behind.
    const snapshots = async () => (await ask("GET", `${path}/snapshots`)).body.data;
    const kept = await snapshots();
    const taken = await ask("POST", `${path}/restore`, { at, into: "other" });
    assertEquals([taken.status, taken.body.code], [409, "slug_taken"]);
    assertEquals(await snapshots(), kept);
    const { tenants } = app.deps;
    const copy = tenants.copy.bind(tenants);
    tenants.copy = () => Promise.reject(new AppError("storage_full"));
    const full = await ask("POST", `${path}/restore`, { at, into: "late" });
    tenants.copy = copy;
    assertEquals(full.body.code, "storage_full");
    assertEquals(await snapshots(), kept);
    const made = await ask("POST", `${path}/restore`, { at, into: "late" });
    assertEquals(made.status, 201, made.text);

    // Who is revoked while the moment is built gets nothing of it.
    const archive = tenants.archive;
    assert(archive !== null);
    const toSnapshot = archive.toSnapshot.bind(archive);
    await acme.setup("INSERT INTO t VALUES (2)");
    const present = await snapshots();
    for (const more of [{}, { into: "never" }]) {
      const { id, token } = await acme.mint("admin");
      archive.toSnapshot = async (...moment) => {
        await toSnapshot(...moment);
        await ask("DELETE", `/api/namespaces/acme/tokens/${id}`);
      };
      const revoked = await ask("POST", `${path}/restore`, { at, ...more }, token);
      assertEquals([revoked.status, revoked.body.code], [401, "invalid_bearer"], revoked.text);
      archive.toSnapshot = toSnapshot;
    }
    assertEquals(await snapshots(), present);
    assertEquals(rowsOf(await acme.query("SELECT count(*) FROM t")), [[2]]);
    assertEquals((await ask("GET", "/v1/db/acme/never/tables")).status, 404);
  } finally {
    await app.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("what is no moment, and one that is still to come, is refused by the field that names it", async () => {
  const folder = await Deno.makeTempDir();
  const app = await startApp({ settings: { TENANTS_URL: "file:", ARCHIVE_URL: `file:${folder}/archive` } });
  try {
    const acme = await app.namespace();
    const later = new Date(Date.now() + 3_600_000).toISOString();
    for (
      const [at, message] of [
        ["yesterday", "Send an ISO 8601 time with Z or an offset, such as 2026-11-22T22:45:00Z"],
        [later, "Set this to a moment that has passed; it is still to come"],
      ]
    ) {
      const { status, body } = await app.request("POST", `${acme.database.path}/restore`, {
        token: acme.token,
        body: { at },
      });
      assertEquals([status, body.code, body.issues], [400, "validation_failed", [{ path: "at", message }]]);
    }
  } finally {
    await app.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
