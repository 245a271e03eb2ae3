// The doctor's checks of published endpoints, on the list that the service hands to it.
import { assertEquals } from "@std/assert";
import { diagnose } from "../../lib/services/schema/doctor/doctor_checks.ts";
import type { EndpointFacts, Examined, Finding } from "../../lib/services/schema/doctor/examined.ts";

function endpoint(facts: Partial<EndpointFacts>): EndpointFacts {
  return {
    ...{ slug: "list-users", kind: "query", auth: "public", captcha: false, rateLimit: false },
    ...{ columns: ["id", "name"], writes: [], tables: ["users"] },
    ...facts,
  };
}

function examine(endpoints: readonly EndpointFacts[]): Promise<Finding[]> {
  const examined: Examined = {
    schema: { databaseDescription: "", tables: [] },
    ...{ byName: new Map(), indexes: new Map(), sources: new Map(), takenNames: new Set() },
    rows: { values: new Map(), orphans: new Set(), duplicates: new Set(), plain: new Set() },
    ...{ endpoints, broken: [], rules: [] },
    address: { namespaceSlug: "acme", databasePath: "main" },
  };
  return diagnose(examined);
}

Deno.test("a public endpoint that answers a password or a token is an error, until it is paused", async () => {
  const columns = [
    "id",
    "passwordHash",
    "api_token",
    "PASSWORD",
    "token_expires_at",
    "reset_secret",
    "apiKey",
  ];
  const findings = await examine([endpoint({ columns })]);
  assertEquals(findings.map(({ code, severity, table, column }) => [code, severity, table, column]), [
    ...["passwordHash", "api_token", "PASSWORD", "reset_secret", "apiKey"].map((column) => [
      ...["sensitive_column_exposed", "error", "users", column],
    ]),
  ]);
  const [first] = findings;
  assertEquals(first?.suggestion, "POST /api/namespaces/acme/databases/main/endpoints/list-users/pause");
  assertEquals(await examine([endpoint({ columns, auth: "session" })]), []);
  assertEquals(await examine([endpoint({})]), []);
});

Deno.test("a public mutation with neither captcha nor rate limit is a warning, until it has a limit", async () => {
  const open = endpoint({ kind: "mutation", slug: "sign", columns: [] });
  const [finding, ...more] = await examine([open]);
  assertEquals([finding?.code, finding?.severity, more], ["public_mutation", "warning", []]);
  assertEquals(
    finding?.suggestion,
    'PATCH /api/namespaces/acme/databases/main/endpoints/sign {"rateLimit":{"perMin":30}}',
  );
  for (const kept of [{ captcha: true }, { rateLimit: true }, { auth: "session" }, { kind: "query" }]) {
    assertEquals(await examine([{ ...open, ...kept }]), []);
  }
});
