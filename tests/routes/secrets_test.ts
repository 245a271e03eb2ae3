// Answers with a secret are kept by no cache and guessed at by no browser.
import { assert, assertEquals } from "@std/assert";
import type { EndpointSpec } from "../../lib/core/endpoint_spec.ts";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { member } from "../testing/test_namespace.ts";
import { publishedApp } from "../published/publish.ts";

const auth: Pick<EndpointSpec, "method" | "output" | "input" | "authConfig"> = {
  ...{ method: "POST", output: "session" },
  input: [
    { name: "email", type: "email", required: true },
    { name: "password", type: "text", required: true },
  ],
  authConfig: { usersTable: "users", passwordColumn: "password_hash" },
};

Deno.test("every answer with a secret says no-store and nosniff, whatever its method", async () => {
  const users = "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)";
  await using world = await publishedApp({ setup: [users] });
  const { app, acme } = world;
  await world.put({ slug: "item", captcha: true });
  await world.put({
    ...{ ...auth, slug: "signup", kind: "auth_signup" },
    sql: "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id",
  });
  await world.put({
    ...{ ...auth, slug: "login", kind: "auth_login" },
    sql: "SELECT id, password_hash FROM users WHERE email = ?",
  });
  const seen: string[] = [];
  const send = async (path: string, body?: unknown, more: ApiRequest & { method?: string } = {}) => {
    const { method = "POST", ...request } = more;
    const answer: ApiAnswer = await app.request(method, path, {
      token: acme.token,
      ...(body === undefined ? {} : { body }),
      ...request,
    });
    assertEquals(answer.headers.get("cache-control"), "no-store", `${method} ${path}`);
    assertEquals(answer.headers.get("x-content-type-options"), "nosniff", `${method} ${path}`);
    seen.push(`${answer.status} ${path}`);
    return answer;
  };
  const main = "/v1/db/acme/main";
  const operator = { token: app.operatorKey };
  await send("/api/namespaces", { slug: "second" }, operator);
  await send("/api/namespaces/acme/tokens", { name: "new", role: "read" });
  const handoff = await send(`${main}/handoff`, { role: "read", ttlSec: 60 });
  await send("/v1/handoff/redeem", { token: member(handoff, "token"), name: "new" });
  await send(`${main}/claim_branch`, { purpose: "try", ref: "try" });
  await send(`${main}/claim_branch`, { purpose: "try", ref: "try" });
  await send("/v1/sessions", { namespaceSlug: "acme", databaseSlug: "main", userId: "1" });
  await send(`${main}/propose`, { sql: "DELETE FROM item WHERE id = 1" });
  const plan = { headers: { "plan-key": "p", "plan-step": "1" } };
  const first = await send(`${main}/handoff`, { role: "read", ttlSec: 60 }, plan);
  const again = await send(`${main}/handoff`, { role: "read", ttlSec: 60 }, plan);
  assertEquals([again.text, again.headers.get("plan-replayed")], [first.text, "true"]);
  const person = { email: "ada@shop.example", password: "correct horse" };
  await send("/p/acme/main/signup", person);
  await send("/p/acme/main/login", person);
  await send("/p/acme/main/item/captcha", undefined, { method: "GET" });
  assert(seen.every((one) => /^20[01] /.test(one)), seen.join("\n"));
  const rules = "/api/namespaces/acme/databases/main/rules";
  const rule = { token: acme.token, body: { tableGlob: "item", effect: "require_approval" } };
  assertEquals((await app.request("POST", rules, rule)).status, 201);
  const held = await send(`${main}/query`, { sql: "DELETE FROM item WHERE id = 1" });
  assertEquals(held.body.code, "approval_required");
  const { approvalToken, approvalUrl } = JSON.parse(held.text);
  await send(`${main}/approvals/${approvalToken}`, undefined, { method: "GET" });
  const id = approvalUrl.split("/").at(-1);
  await send(`/api/namespaces/acme/approvals/${id}/approve`, {}, operator);
});
