// On which tenant store the tests of this run work: `tests/run.ts` runs the suites over HTTP a second time on sqld.

const VARIABLES = ["TENANTS_URL", "TENANTS_TOKEN", "TENANTS_JWT_KEY"];

/** Settings of the service that choose the store; none: the embedded one. */
export function tenantSettings(
  env: Readonly<Record<string, string | undefined>> = Deno.env.toObject(),
): Readonly<Record<string, string>> {
  return Object.fromEntries(VARIABLES.flatMap((name) => {
    const value = env[`TEST_${name}`];
    return value ? [[name, value]] : [];
  }));
}

/** Whether they work on the embedded engine. */
export function isEmbedded(): boolean {
  return tenantSettings()["TENANTS_URL"] === undefined;
}
