// What whoever runs sqld gets wrong or runs out of, as callers, load balancers and the log see it: a slow server, secrets
// that are not its own, a full disk, too few files.
import { assert, assertEquals } from "@std/assert";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { inCi, type Sqld, type SqldOptions, startSqld } from "../testing/sqld.ts";
import { print } from "../testing/print.ts";
import { standBefore } from "../testing/stand_before.ts";
import { type RunningService, startService } from "../testing/start_service.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { pause } from "../../lib/core/pause.ts";
import { callService, serviceWorld } from "../testing/service_world.ts";
import { suspend } from "../testing/suspend.ts";

const NAMESPACES = ["--enable-namespaces", "--disable-default-namespace"];
const ADMIN_KEY = "0123456789abcdef";
/** Runs `body` beside an sqld of its own; where there is none for this machine it says so and returns. */
async function withServer(options: SqldOptions, body: (sqld: Sqld) => Promise<void>): Promise<void> {
  const sqld = await startSqld({ ...options, args: [...NAMESPACES, ...options.args ?? []] });
  if (sqld === null) return;
  try {
    await body(sqld);
  } finally {
    await sqld.stop();
  }
}

const tenantsAt = (url: string, adminUrl: string) => ({ TENANTS_URL: `sqld+${url}?admin=${adminUrl}` });

interface Degraded {
  readonly part: string;
  readonly reason: string;
}

interface Ready {
  readonly data?: { readonly status?: string; readonly degraded?: readonly Degraded[] };
  readonly notReady?: readonly string[];
}

type Told = readonly [status: number, data: Ready["data"], notReady: Ready["notReady"]];

async function readiness(app: StartedApp): Promise<Told> {
  const { status, text } = await app.request("GET", "/readyz");
  const { data, notReady }: Ready = JSON.parse(text);
  return [status, data, notReady];
}

/** Apart from that it took long, which a busy machine does too. */
async function state(app: StartedApp): Promise<Told> {
  const [status, data, notReady] = await readiness(app);
  const strains = data?.degraded?.filter(({ reason }) => reason !== "slow");
  if (strains === undefined) return [status, data, notReady];
  return [status, strains.length === 0 ? { status: "ready" } : { ...data, degraded: strains }, notReady];
}

const degraded = (...reasons: string[]): Told => [
  200,
  { status: "degraded", degraded: reasons.map((reason) => ({ part: "tenants", reason })) },
  undefined,
];
const ready: Told = [200, { status: "ready" }, undefined];

Deno.test("readyz tells a slow sqld from one that is gone, and asks it once for all who ask", async () => {
  await withServer({}, async (sqld) => {
    await using data = standBefore(sqld.url);
    await using app = await startApp({ settings: tenantsAt(data.url, sqld.adminUrl) });
    await app.namespace();
    assertEquals(await state(app), ready);
    let asked = 0;
    data.between = async ({ body }, go) => {
      // The store asks for other things by itself.
      if (body.includes('"SELECT 1')) asked++;
      await pause(3000);
      return await go();
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => readiness(app)));
    for (const answer of answers) assertEquals(answer, degraded("slow"));
    assertEquals(asked, 1);
    data.between = () => new Response(null, { status: 502 });
    assertEquals(await state(app), [503, undefined, ["tenants"]]);
    data.between = null;
    assertEquals(await state(app), ready);
  });
});

Deno.test("a secret that sqld refuses is named in the log once, never told, and readyz says what does not work", async () => {
  const [own, other] = await Promise.all([1, 2].map(() => generateKeyPair("EdDSA", { extractable: true })));
  assert(own && other);
  const env = { LIBSQL_ADMIN_AUTH_KEY: ADMIN_KEY, SQLD_AUTH_JWT_KEY: await exportSPKI(own.publicKey) };
  const [key, wrongKey] = await Promise.all([own, other].map(({ privateKey }) => exportPKCS8(privateKey)));
  await withServer({ env }, async (sqld) => {
    const place = tenantsAt(sqld.url, sqld.adminUrl);
    const refusals = ({ logLines }: StartedApp) => logLines.filter((line) => line.includes("refused"));
    const line = (variable: string, status: number | string) =>
      JSON.stringify({ level: "error", event: "tenants_setting_refused", variable, status });

    await using keyless = await startApp({
      settings: { ...place, TENANTS_TOKEN: ADMIN_KEY, TENANTS_JWT_KEY: wrongKey ?? "" },
    });
    for (let n = 0; n < 5; n++) {
      assertEquals(await state(keyless), [503, undefined, ["tenants"]]);
    }
    assertEquals(refusals(keyless), [line("TENANTS_JWT_KEY", "401")]);

    await using closed = await startApp({
      settings: { ...place, TENANTS_TOKEN: "another-token-0000", TENANTS_JWT_KEY: key ?? "" },
    });
    for (let n = 0; n < 5; n++) assertEquals(await state(closed), [503, undefined, ["tenants"]]);
    assertEquals(refusals(closed), [line("TENANTS_TOKEN", 401)]);

    // One whose secret is refused from some time on.
    await using admin = standBefore(sqld.adminUrl);
    await using late = await startApp({
      settings: { ...tenantsAt(sqld.url, admin.url), TENANTS_TOKEN: ADMIN_KEY, TENANTS_JWT_KEY: key ?? "" },
    });
    const tenant = await late.namespace();
    assertEquals(await state(late), ready);
    admin.between = () => new Response("{}", { status: 401 });
    for (let n = 0; n < 3; n++) assertEquals(await state(late), degraded("admin_refused"));
    assertEquals((await tenant.query("CREATE TABLE t (a)")).body.code, "store_unavailable");
    assertEquals((await tenant.query("SELECT 1")).status, 200);
    assertEquals(refusals(late), [line("TENANTS_TOKEN", 401)]);
    const all = [keyless, closed, late].flatMap(({ logLines }) => logLines).join("\n");
    assert(!/another-token|0123456789abcdef|PRIVATE KEY|Bearer|eyJ/.test(all), all);
  });
});

Deno.test("an sqld whose disk is full answers storage_full to writes of every kind, goes on reading, and recovers", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sqld_full_" });
  const mount = (...args: string[]) =>
    new Deno.Command(args[0] ?? "", { args: args.slice(1), stderr: "null" }).output().then(
      ({ success }) => success,
      () => false,
    );
  try {
    if (!await mount("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder)) {
      if (inCi()) throw new Error("a small disk is needed: a tmpfs cannot be mounted here");
      return print("\nleft out: a tmpfs cannot be mounted here\n");
    }
    await withServer({ folder }, async (sqld) => {
      await using app = await startApp({ settings: tenantsAt(sqld.url, sqld.adminUrl) });
      const tenant = await app.namespace();
      assertEquals((await tenant.query("CREATE TABLE t (a)")).status, 200);
      const insert = "INSERT INTO t VALUES (zeroblob(400000))";
      let full = await tenant.query(insert);
      for (let n = 0; full.status === 200 && n < 40; n++) full = await tenant.query(insert);
      // What is small may still find room.
      for (let n = 0; n < 40; n++) await tenant.query("INSERT INTO t VALUES (zeroblob(20000))");
      const answers = [
        full,
        await tenant.query(insert),
        await tenant.batch([[insert], [insert]], { transaction: true }),
        await tenant.batch([[insert], [insert]]),
        await tenant.query("CREATE TABLE u AS SELECT a FROM t"),
        await app.request("POST", `${tenant.database.path}/snapshots`, { token: tenant.token, body: {} }),
        await app.request("POST", `/api/namespaces/${tenant.slug}/databases`, {
          ...{ token: tenant.token, body: { slug: "more" } },
        }),
      ];
      for (const [at, { status, body, headers, text }] of answers.entries()) {
        assertEquals([status, body.code], [503, "storage_full"], `${at}: ${text}`);
        assertEquals(headers.get("retry-after"), "30");
        assert(!text.includes(folder), text);
      }
      assertEquals((await tenant.query("SELECT count(*) > 5 FROM t")).status, 200);
      assert(await mount("mount", "-o", "remount,size=64m", folder));
      assertEquals((await tenant.query(insert)).status, 200);
    });
  } finally {
    await mount("umount", folder);
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("before sqld has too many files open readyz and the log say so, and then it is 503 with Retry-After", async () => {
  await withServer({ files: 160, args: ["--max-active-namespaces", "10000"] }, async (sqld) => {
    const settings = { ...tenantsAt(sqld.url, sqld.adminUrl), TENANTS_OPEN_MAX: "25" };
    await using app = await startApp({ settings });
    const tenant = await app.namespace();
    assertEquals(await state(app), ready);
    const seen: string[] = [];
    for (let made = 1; made < 60; made++) {
      const { status, body, headers } = await app.request(
        "POST",
        `/api/namespaces/${tenant.slug}/databases`,
        {
          ...{ token: tenant.token, body: { slug: `d${made}` } },
        },
      );
      if (status !== 201) {
        assertEquals([status, body.code, headers.get("retry-after")], [503, "store_unavailable", "2"]);
        break;
      }
      const [, data] = await state(app);
      seen.push(JSON.stringify(data ?? null));
    }
    assert(seen.length < 59, "it has never come to an end");
    assert(seen.includes(JSON.stringify(degraded("near_open_max")[1])), seen.join("\n"));
    const warned = app.logLines.filter((line) => line.includes('"tenants_near_open_max"'));
    assertEquals(warned.length, 1);
  });
});

Deno.test("a service whose sqld has gone silent comes to its end when it is told to stop, with calls under way", async () => {
  await withServer({}, async (sqld) => {
    await using world = await serviceWorld(tenantsAt(sqld.url, sqld.adminUrl));
    for (const sql of ["CREATE TABLE t (a)", "INSERT INTO t VALUES (0)"]) {
      assertEquals((await callService(world, sql)).status, 200);
    }
    await suspend(sqld.pid);
    try {
      const calls = ["INSERT INTO t VALUES (1)", "SELECT * FROM t"].map((sql) =>
        callService(world, sql).catch(() => null)
      );
      await pause(3000);
      // Each try of each of them waits for its answer far longer than that altogether.
      const late = setTimeout(() => void world.service.kill(), 60_000);
      assertEquals((await world.service.stop()).code, 0);
      clearTimeout(late);
      await Promise.all(calls);
    } finally {
      Deno.kill(sqld.pid, "SIGCONT");
    }
  });
});

Deno.test("a start with the address of an sqld that has none of the databases makes none there, and says so", async () => {
  await withServer({}, (own) =>
    withServer({}, async (other) => {
      const folder = await Deno.makeTempDir({ prefix: "cubby_other_sqld_" });
      const key = `cub_op_${crypto.randomUUID()}`;
      const start = ({ url, adminUrl }: Sqld) =>
        startService({ folder, settings: { DEMO: "0", OPERATOR_KEY: key, ...tenantsAt(url, adminUrl) } });
      const make = async ({ url }: RunningService, path: string, slug: string) => {
        const headers = { authorization: `Bearer ${key}` };
        const body = JSON.stringify({ slug });
        const answer = await fetch(`${url}/api/namespaces${path}`, { method: "POST", headers, body });
        return [answer.status, (await answer.json()).code];
      };
      try {
        {
          await using first = await start(own);
          assertEquals(await make(first, "", "acme"), [201, undefined]);
          assertEquals(await make(first, "/acme/databases", "main"), [201, undefined]);
        }
        {
          await using mistaken = await start(other);
          assertEquals(await make(mistaken, "/acme/databases", "second"), [503, "store_unavailable"]);
          const answer = await fetch(`${mistaken.url}/readyz`);
          assertEquals([answer.status, (await answer.json()).notReady], [503, ["tenants"]]);
          await mistaken.stop();
          assert(mistaken.errors().includes("tenants_catalogue_missing"), mistaken.errors());
        }
        await using again = await start(own);
        assertEquals(await make(again, "/acme/databases", "second"), [201, undefined]);
        // Who goes on without them makes the catalogue that the log names.
        await fetch(`${other.adminUrl}/v1/namespaces/cubby-catalog/create`, {
          ...{ method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
        }).then((answer) => answer.body?.cancel());
        await again.stop();
        await using without = await start(other);
        assertEquals(await make(without, "/acme/databases", "third"), [201, undefined]);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    }));
});
