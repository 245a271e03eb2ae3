// On which tenant store the tests of this run work: `tests/run.ts` runs the suites over HTTP a second time on sqld.

/** Settings of the service that choose the store; none: the embedded one. */
export function tenantSettings(): Readonly<Record<string, string>> {
  const url = Deno.env.get("TEST_TENANTS_URL");
  return url ? { TENANTS_URL: url } : {};
}

/** Whether they work on the embedded engine. */
export function isEmbedded(): boolean {
  return tenantSettings()["TENANTS_URL"] === undefined;
}
