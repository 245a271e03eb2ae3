// An sqld for many tests one after the other, with secrets as the compose file's has them: every app makes databases
// of its own there.
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { SHARED_SQLD, startSqld } from "./sqld.ts";

const ADMIN_KEY = "0123456789abcdef";

export interface SharedSqld {
  /** Environment of the tests, by which `tenantSettings()` finds it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Null where there is none for this machine, after a line that says so. */
export async function startSharedSqld(): Promise<SharedSqld | null> {
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  const sqld = await startSqld({
    args: SHARED_SQLD,
    env: { LIBSQL_ADMIN_AUTH_KEY: ADMIN_KEY, SQLD_AUTH_JWT_KEY: await exportSPKI(pair.publicKey) },
  });
  return sqld && {
    env: {
      TEST_TENANTS_URL: `sqld+${sqld.url}?admin=${sqld.adminUrl}`,
      TEST_TENANTS_TOKEN: ADMIN_KEY,
      TEST_TENANTS_JWT_KEY: await exportPKCS8(pair.privateKey),
    },
    stop: () => sqld.stop(),
  };
}
