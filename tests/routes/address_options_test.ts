// An option in the address of a call that does more than read: it would be ignored, so the call is refused and does nothing.
import { assertEquals } from "@std/assert";
import { securityTable } from "../../routes/security_table.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("options in the address", run);

const CHANGING: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
/** These have parameters of their own, check that there are none, or belong to a protocol that ignores what it does not know. */
const OWN = /\/(import|imports\/:id|exports\/:id)$|^\/v1\/(execute|batch)$/;
const segments: Readonly<Record<string, string>> = { ns: "acme", slug: "acme", db: "main", dbSlug: "main" };

test("a parameter in the address of a call that does more than read is refused by its name", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const routes = securityTable.filter(({ method, path }) =>
    CHANGING.has(String(method)) && /^\/(api|v1)\//.test(path) && !OWN.test(path)
  );
  assertEquals(routes.length > 50, true);
  for (const { method, path } of routes) {
    const address = path.replace(/:(\w+)(?:\{[^}]*\})?/g, (_, name) => segments[name] ?? name);
    const token = path.startsWith("/api") ? app.operatorKey : acme.token;
    const { status, body } = await app.request(String(method), `${address}?dryRun=1&dryRun=0`, { token });
    const told = [status, body.code, body.issues?.map((issue) => issue.path)];
    assertEquals(told, [400, "validation_failed", ["dryRun"]], `${method} ${path}`);
  }
});

test("an option that belongs in the body does not count as absent in the address", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const database = `/api/namespaces/${acme.slug}/databases/main`;
  const token = acme.token;
  const body = { tableGlob: "t", effect: "deny" };
  const added = await app.request("POST", `${database}/rules?enabled=false`, { token, body });
  assertEquals([added.status, added.body.issues?.[0]?.path], [400, "enabled"], added.text);
  assertEquals((await app.request("GET", `${database}/rules`, { token })).body.data, []);
  const removed = await app.request("DELETE", `${database}?dryRun=1`, {
    token: app.operatorKey,
    body: { confirm: "main" },
  });
  assertEquals([removed.status, removed.body.issues?.[0]?.path], [400, "dryRun"], removed.text);
  assertEquals((await app.request("GET", database, { token })).status, 200);
  // Without anything in it a question mark says nothing.
  assertEquals((await app.request("POST", `${database}/rules?`, { token, body })).status, 201);
});
