// What the console shows of a database whose file is gone.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { signIn } from "../testing/person.ts";
import { backupWorld } from "../backup/backup_world.ts";
import { plain } from "./console_world.ts";
import { openPage, sendForm } from "./open_page.ts";

Deno.test("a database whose file is gone leads to its snapshots and its archive, by pages that open, and comes back", async () => {
  await using world = await backupWorld();
  {
    await using app = await world.start();
    const shop = await app.namespace("shop");
    await shop.setup("CREATE TABLE people (id INTEGER PRIMARY KEY)", "INSERT INTO people VALUES (1), (2)");
    const { path, token } = { path: shop.database.path, token: shop.token };
    const kept = await app.request("POST", `${path}/snapshots`, { token, body: { label: "kept" } });
    assertEquals(kept.status, 201, kept.text);
  }
  for await (const file of filesOf(`${world.dataDir}/tenants`)) await Deno.remove(file);
  await using app = await world.start();
  const admin = await signIn(app, { role: "admin", namespace: "shop" });
  const base = "/console/shop/db/main";
  for (const page of ["", "/sql", "/tables", "/tables/people", "/rules"]) {
    const { status, text } = await openPage(app, base + page, admin);
    assertEquals(status, 503, page);
    assertStringIncludes(plain(text), "This database is damaged");
    for (const way of ["snapshots", "archive"]) {
      assertStringIncludes(text, `href="${base}/${way}"`);
      assertEquals((await openPage(app, `${base}/${way}`, admin)).status, 200);
    }
  }
  const restored = await sendForm(app, { path: `${base}/snapshots/kept/restore`, fields: {}, person: admin });
  assertEquals(restored.status, 303, restored.text.slice(-300));
  const { status, text } = await openPage(app, base, admin);
  assert(status === 200 && text.includes("people"), text.slice(-300));
});

/** The files of databases, without their snapshots. */
async function* filesOf(tenants: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(tenants)) {
    if (!isDirectory) continue;
    for await (const file of Deno.readDir(`${tenants}/${name}`)) {
      if (file.isFile && /^db_\w+\.db(-wal|-shm)?$/.test(file.name)) yield `${tenants}/${name}/${file.name}`;
    }
  }
}
