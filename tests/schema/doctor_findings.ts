// What the doctor answers, and running what it suggests exactly as it stands.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

export interface Finding {
  readonly code: string;
  readonly severity: string;
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
  readonly suggestion: string;
}

export interface Doctor {
  readonly findings: readonly Finding[];
  readonly tablesScanned: number;
  readonly generatedAt: string;
}

/** One examination of the namespace's database, as a reader. */
export async function examine(app: StartedApp, { database, token }: TestNamespace): Promise<Doctor> {
  const answer = await app.request("GET", `${database.path}/doctor`, { token });
  assertEquals(answer.status, 200, answer.text);
  return answer.body.data as Doctor;
}

/** A suggestion is one statement for `query`, or `METHOD path body`. */
export function runSuggestion(
  app: StartedApp,
  tenant: TestNamespace,
  suggestion: string,
): Promise<ApiAnswer> {
  const call = /^(GET|POST|PUT|PATCH|DELETE) (\/\S+)(?: (\{[^]*\}))?$/.exec(suggestion);
  if (!call) return tenant.query(suggestion);
  const [, method = "", path = "", body] = call;
  return app.request(method, path, { token: tenant.token, ...(body === undefined ? {} : { body }) });
}

/** Runs what the finding suggests and holds the doctor to it: the finding must be gone. */
export async function follow(app: StartedApp, tenant: TestNamespace, finding: Finding): Promise<void> {
  const ran = await runSuggestion(app, tenant, finding.suggestion);
  assertEquals(ran.status, 200, `${JSON.stringify(finding)}: ${ran.text}`);
  const same = (await examine(app, tenant)).findings.filter((one) =>
    one.code === finding.code && one.message === finding.message
  );
  assertEquals(same, [], `${finding.suggestion} did not help`);
}

/** Findings of a code as `table.column`. */
export function placesOf({ findings }: Doctor, code: string): string[] {
  return findings.filter((one) => one.code === code)
    .map(({ table, column }) => column === null ? table : `${table}.${column}`);
}

/** Makes the schema, one statement after the other. */
export async function make(tenant: TestNamespace, statements: readonly string[]): Promise<void> {
  const made = await tenant.batch(statements.map((sql) => [sql] as const));
  assert(made.status === 200, made.text);
}
