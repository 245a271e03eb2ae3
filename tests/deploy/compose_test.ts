// The compose file against the code that it starts: the settings, and sqld by the very arguments that stand there.
import { assert, assertEquals } from "@std/assert";
import { configTable, readConfig } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createSqldStore } from "../../lib/tenant/sqld/create_sqld_store.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { startKvConnect } from "../testing/kv_connect.ts";
import { type Sqld, startSqld } from "../testing/sqld.ts";
import { member } from "../testing/test_namespace.ts";
import { filled, instances, keyPair, service, services, sqldArguments, volumes } from "./compose_file.ts";
import { inTurn } from "./instance_api.ts";
import { emptyDenoDir, startInstance } from "./rehearsal.ts";

/** What a person exports. */
const SECRET = "0123456789abcdef";

function exported(tenantsJwtKey: string) {
  return {
    ...{ OPERATOR_KEY: SECRET, DENO_KV_ACCESS_TOKEN: SECRET, TENANTS_TOKEN: SECRET },
    TENANTS_JWT_KEY: tenantsJwtKey,
  };
}

Deno.test("every service of the compose file has a pinned image and a health check, and its volumes exist", () => {
  assertEquals(Object.keys(services), ["instance-1", "instance-2", "denokv", "sqld"]);
  for (const [name, { image, healthcheck, volumes: mounted, depends_on }] of Object.entries(services)) {
    assert(/:v?\d+\.\d+\.\d+$/.test(image), `${name}: ${image}`);
    assertEquals(healthcheck.test[0], "CMD", name);
    for (const mount of mounted) {
      const [from = ""] = mount.split(":");
      assert(from.startsWith(".") || from in volumes, `${name}: ${mount}`);
    }
    for (const [on, { condition }] of Object.entries(depends_on ?? {})) {
      assert(on in services, `${name} waits for ${on}`);
      assertEquals(condition, "service_healthy");
    }
  }
  assertEquals(service("instance-1").image, `denoland/deno:${Deno.version.deno}`);
});

Deno.test("the instances of the compose file are started with settings that exist and fit together", async () => {
  const known = new Set<string>(Object.values(configTable).map(({ variable }) => variable));
  // Deno itself reads that one.
  known.add("DENO_KV_ACCESS_TOKEN");
  const { secret } = await keyPair();
  for (const [name, { environment, command }] of instances) {
    assertEquals(Object.keys(environment).filter((variable) => !known.has(variable)), [], name);
    const config = readConfig(filled(environment, exported(secret)));
    // Neither needs a folder, so that any number of them may run.
    assert(config.kvUrl !== null && config.tenantsUrl.kind === "sqld", name);
    assertEquals(new URL(config.kvUrl).hostname, "denokv");
    assertEquals(new URL(config.tenantsUrl.url).hostname, "sqld");
    assertEquals(command.filter((part) => part.startsWith("--allow")), ["--allow-net", "--allow-env"]);
  }
});

Deno.test("the compose file tells callers behind its proxy apart, and lets sqld open the files that it says", async () => {
  const { secret } = await keyPair();
  const sqld = service("sqld");
  const active = sqld.command.find((part) => part.startsWith("--max-active-namespaces="))?.split("=")[1];
  const { soft = 0, hard = 0 } = sqld.ulimits?.nofile ?? {};
  // Five files a namespace, and what the server itself has open.
  assert(Number(active) * 5 + 1000 <= soft && soft <= hard, `${active} in ${soft}`);
  for (const [name, { environment, healthcheck }] of instances) {
    const read = (given: Record<string, string>) =>
      readConfig(filled(environment, { ...exported(secret), ...given }));
    assertEquals([read({}).trustProxy, read({ TRUST_PROXY: "2" }).trustProxy], [1, 2], name);
    assertEquals(String(read({}).tenantsOpenMax), active, name);
    // A slow part answers within ten seconds.
    assert(parseInt(healthcheck.timeout) > 10, name);
  }
});

/** Runs `body` beside an sqld that has the arguments and the settings of the file; the folder goes with it. */
async function withComposeSqld(
  body: (world: { readonly sqld: Sqld; readonly secret: string; readonly folder: string }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_compose_" });
  try {
    const { secret, open } = await keyPair();
    await Deno.writeTextFile(`${folder}/jwt.pub`, open);
    const sqld = await startSqld({
      args: sqldArguments(`${folder}/jwt.pub`),
      env: filled(service("sqld").environment, exported(secret)),
    });
    if (sqld === null) return;
    try {
      await body({ sqld, secret, folder });
    } finally {
      await sqld.stop();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("sqld takes the arguments of the compose file, and lets in only who has the keys", async () => {
  await withComposeSqld(async ({ sqld, secret }) => {
    const adminToken = SECRET;
    const store = (settings: { adminToken: string | null; jwtKeyPem: string | null }) =>
      createSqldStore({
        ...{ url: sqld.url, adminUrl: sqld.adminUrl, clock: systemClock, log: silentLog },
        ...{ queryTimeoutMs: 5000, logDays: 30, snapshotDays: 7 },
        ...settings,
      });
    const right = store({ adminToken, jwtKeyPem: secret });
    const tenant = await Tenant.create(right, ["CREATE TABLE t (a)"]);
    assertEquals((await tenant.run("write", [["INSERT INTO t VALUES (1)"]])).ok, true);
    assertEquals(await tenant.rows("SELECT a FROM t"), [[1]]);
    await right.close();
    for (const wrong of [{ adminToken: null, jwtKeyPem: secret }, { adminToken, jwtKeyPem: null }]) {
      const other = store(wrong);
      assertEquals(await other.ready().then(() => "let in", () => "refused"), "refused");
      await other.close();
    }
  });
});

Deno.test("the instances of the compose file serve together from a KV server and sqld", async () => {
  await withComposeSqld(async ({ sqld, secret, folder }) => {
    await using kv = startKvConnect(SECRET);
    const denoDir = await emptyDenoDir(folder);
    /** The file's own command and settings, with the addresses that the parts have here. */
    const start = ([, { command, environment }]: (typeof instances)[number], token: string) =>
      startInstance({
        ...filled(environment, { ...exported(secret), DENO_KV_ACCESS_TOKEN: token }),
        KV_URL: kv.url,
        TENANTS_URL: `sqld+${sqld.url}?admin=${sqld.adminUrl}`,
        DENO_DIR: denoDir,
      }, command);
    const starting = await Promise.allSettled(instances.map((instance) => start(instance, SECRET)));
    const running = starting.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
    try {
      for (const one of starting) if (one.status === "rejected") throw one.reason;
      const api = inTurn(SECRET, running);
      const acme = await api.namespace("acme");
      assertEquals((await acme.query("CREATE TABLE t (n INTEGER)")).status, 200);
      const inserted = await Promise.all(
        [1, 2, 3, 4].map((n) => acme.query("INSERT INTO t VALUES (?)", [n])),
      );
      assertEquals(inserted.map(({ status }) => status), [200, 200, 200, 200]);
      const proposed = await api.request("POST", `${acme.database.path}/propose`, {
        ...{ token: acme.token, body: { sql: "DELETE FROM t" } },
      });
      const executionToken = member(proposed, "executionToken");
      const applied = await Promise.all(
        Array.from({ length: 6 }, () =>
          api.request("POST", `${acme.database.path}/apply`, {
            token: acme.token,
            body: { executionToken },
          })),
      );
      assertEquals(applied.filter(({ status }) => status === 200).length, 1);
      // They may use no disk and start no process: the documentation says who exports and imports beside them.
      const file = `${acme.database.path}/export?format=sql`;
      assertEquals(
        (await api.request("GET", file, { token: acme.token })).body.code,
        "transfers_unavailable",
      );
      assert(kv.commits > 0 && kv.refusals === 0);
      const stopped = await Promise.all(running.map((instance) => instance.stop()));
      assertEquals(stopped.map(({ code }) => code), [0, 0]);
    } finally {
      await Promise.all(running.map((instance) => instance.kill()));
    }
    const [first] = instances;
    assert(first !== undefined);
    const refused = await start(first, "another token").then(() => "started", (error) => String(error));
    assert(refused.includes("did not start") && !refused.includes(SECRET), refused);
    assert(kv.refusals > 0);
  });
});
