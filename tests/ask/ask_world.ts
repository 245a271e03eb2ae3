// What the tests of `ask` share: a database made over the API, and the service called as a published endpoint would.
import { assertEquals } from "@std/assert";
import { type EndpointSpec, endpointSpec } from "../../lib/core/endpoint_spec.ts";
import type { QueryTarget } from "../../lib/query/query_call.ts";
import type { AskContext } from "../../lib/services/ask/answer_question.ts";
import type { AskModel } from "../../lib/services/ask/model/ask_model.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestDatabase, TestNamespace } from "../testing/test_namespace.ts";
import type { AskedSchema } from "./schemas.ts";

/** The database with its tables, rows and descriptions, made over the API. */
export async function makeDatabase(
  app: StartedApp,
  tenant: TestNamespace,
  schema: AskedSchema,
): Promise<TestDatabase> {
  const database = await tenant.createDatabase(schema.name);
  const made = await app.request("POST", `${database.path}/batch`, {
    ...{ token: tenant.token, body: { statements: schema.statements.map((sql) => ({ sql })) } },
  });
  assertEquals(made.status, 200, made.text);
  const described = await app.request("PUT", `${database.path}/describe`, {
    ...{ token: tenant.token, body: { tables: schema.descriptions } },
  });
  assertEquals(described.status, 200, described.text);
  return database;
}

export function askContext(app: StartedApp, askModel: AskModel): AskContext {
  return { ...app.deps.query, askModel, tokenId: "a test", userId: null };
}

export async function targetOf(app: StartedApp, { id, slug }: TestDatabase): Promise<QueryTarget> {
  const namespace = await app.deps.control.namespaces.bySlug("acme");
  return {
    namespaceId: namespace?.id ?? "",
    namespaceSlug: "acme",
    databaseId: id,
    databaseSlug: slug,
    branchRef: "main",
    role: "admin",
  };
}

export function specOf(allowedTables: readonly string[], maxRows?: number): EndpointSpec {
  return endpointSpec.parse({
    ...{ slug: "ask", name: "Ask", kind: "ask", method: "POST", sql: "", output: "answer" },
    input: [{ name: "question", type: "text", required: true, maxLength: 500 }],
    askConfig: { allowedTables, ...(maxRows === undefined ? {} : { maxRows }) },
  });
}
