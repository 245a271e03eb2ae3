// Methods that an address does not have: 405 with the ones that it has, whatever else the request says.
import { assertEquals } from "@std/assert";
import { securityTable } from "../../routes/security_table.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("methods and addresses that there are not", run);

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const segments: Readonly<Record<string, string>> = {
  ...{ ns: "acme", slug: "acme", db: "main", dbSlug: "main", endpoint: "fresh", n: "1", ref: "pr-1" },
  id: "tok_01ARZ3NDEKTSV4RRFFQ69G5FAV",
};

/** A HEAD would do all of their work for nobody. */
const NO_HEAD = ["/api/backup", "/v1/changes/:ticket", "/v1/db/:ns/:db/export"];

test("every address answers 405 to the methods that it does not have, with its own in Allow", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const byPath = Map.groupBy(
    securityTable.filter(({ method }) => method !== "ALL"),
    ({ path }) => path.replace(/:(\w+)(?:\{[^}]*\})?/g, (_, name) => segments[name] ?? name),
  );
  const hurdles: readonly Readonly<Record<string, string>>[] = [
    {},
    { "plan-key": "a", "plan-step": "b" },
    { "plan-key": "a" },
    { "plan-key": "", "plan-step": "ü".repeat(300) },
    { "x-dry-run": "1" },
    { "idempotency-key": "k", "x-max-affected": "-1" },
  ];
  for (const [path, routes] of byPath) {
    const own = routes.map(({ method }) => String(method));
    const withoutHead = NO_HEAD.includes(routes[0]?.path ?? "");
    const allow = [...own, ...(own.includes("GET") && !withoutHead ? ["HEAD"] : [])].sort();
    if (own.includes("GET")) {
      const needs = path.endsWith("/export") ? "?format=sql" : "";
      const token = path.startsWith("/api/") ? app.operatorKey : acme.token;
      const head = await app.request("HEAD", path + needs, { token });
      assertEquals([head.status === 405, head.headers.get("allow")], [
        withoutHead,
        withoutHead ? "GET" : null,
      ], path);
    }
    for (const method of [...METHODS, "OPTIONS", "PROPFIND", "FOO"].filter((one) => !own.includes(one))) {
      // What stands below /p/:ns/:db/:slug says itself what it does with a method.
      if (path.startsWith("/p/") && path.endsWith("/captcha") && method === "OPTIONS") continue;
      // There a page of any origin may ask what it may send.
      if (/^\/(?:hrana|v[23])\b/.test(path) && method === "OPTIONS") continue;
      for (const headers of hurdles) {
        const answer = await app.request(method, path, { token: acme.token, headers });
        const name = `${method} ${path} ${JSON.stringify(headers)}: ${answer.text}`;
        assertEquals([answer.status, answer.body.code?.toLowerCase()], [405, "method_not_allowed"], name);
        assertEquals(answer.headers.get("allow")?.split(", ").sort(), allow, name);
      }
    }
  }
});

test("words of the API that stand in a slug's place are nobody's slug", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const databases = "/api/namespaces/acme/databases";
  const database = await app.request("POST", databases, { token: acme.token, body: { slug: "restore" } });
  assertEquals([database.status, database.body.issues?.[0]?.path], [400, "slug"], database.text);
  const body = {
    ...{
      slug: "scaffold-crud",
      name: "x",
      kind: "query",
      method: "GET",
      sql: "SELECT 1",
      input: [],
      output: "rows",
    },
  };
  const endpoint = await app.request("POST", `${databases}/main/endpoints`, { token: acme.token, body });
  assertEquals([endpoint.status, endpoint.body.issues?.[0]?.path], [400, "slug"], endpoint.text);
});

test("a 404 names the route that may have been meant, a 405 the methods that there are", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const errorOf = async (method: string, path: string) =>
    (await app.request(method, path, { token, ...(method === "POST" ? { body: {} } : {}) })).body.error;
  assertEquals(
    await errorOf("POST", "/v1/db/acme/main/querry"),
    "Nothing is at this address; did you mean POST /v1/db/:ns/:db/query?",
  );
  assertEquals(
    await errorOf("POST", "/v1/db/acme/main/execute"),
    "Nothing is at this address; did you mean POST /v1/db/:ns/:db/query?",
  );
  for (const path of ["/v1/nothing/like/it", "/v1", "/api", "/", "/v1/db/acme/main/constructor"]) {
    assertEquals(
      await errorOf("GET", path),
      "Nothing is at this address; /llms.txt tells where to begin, /docs/http-api lists what there is",
    );
  }
  assertEquals(await errorOf("GET", "/v1/db/acme/main/query"), "Use POST at this address");
  assertEquals(await errorOf("DELETE", "/v1/db/acme/main/describe"), "Use GET or PUT at this address");
});
