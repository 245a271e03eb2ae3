// Starting and ending the real process: what keeps it from starting, what a stop and a kill leave behind.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { S3Objects } from "../../lib/tenant/archive/s3_objects.ts";
import { pause } from "../../lib/core/pause.ts";
import { childrenLeft, engineChildren } from "../testing/engine_children.ts";
import { givePort, takePort } from "../testing/own_port.ts";
import { print } from "../testing/print.ts";
import { RawClient } from "../testing/raw_client.ts";
import { launchService, type RunningService, startService } from "../testing/start_service.ts";

const SLOW =
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 1000000) SELECT count(*) FROM c";
async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_start_" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The one line that a start that cannot be says, once it has ended with code 1. */
async function refusal(
  folder: string,
  settings: Record<string, string>,
  args: readonly string[] = [],
  launcher: readonly string[] = [],
): Promise<string> {
  const service = await launchService({ folder, settings, args, launcher });
  const { code } = await service.exited;
  assertEquals([code, service.output()], [1, ""], service.errors());
  assertMatch(service.errors(), /^[A-Z][^\n]+\n$/);
  return service.errors().trim();
}

function demoToken(service: RunningService): string {
  const token = /cub_live_\w+/.exec(service.output())?.[0];
  assert(token !== undefined, service.output());
  return token;
}

async function query(
  service: RunningService,
  token: string,
  sql: string,
): Promise<{ status: number; rows: unknown }> {
  const response = await fetch(`${service.url}/v1/db/demo/demo/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ sql }),
  });
  const { data } = await response.json();
  return { status: response.status, rows: data?.rows };
}

Deno.test("a malformed setting stops the start with one line that names the variable", async () => {
  await withFolder(async (folder) => {
    for (const [name, value] of [["PORT", "http"], ["QUERY_TIMEOUT_MS", "soon"], ["DEMO", "yes"]] as const) {
      const line = await refusal(folder, { [name]: value });
      assertStringIncludes(line, `Set ${name} to `);
    }
    const secret = await refusal(folder, { OPERATOR_KEY: "short-secret" });
    assertStringIncludes(secret, "OPERATOR_KEY");
    assertEquals(secret.includes("short-secret"), false);
  });
});

Deno.test("an argument stops the start with one line that says how settings are given", async () => {
  await withFolder(async (folder) => {
    assertStringIncludes(await refusal(folder, {}, ["--port", "8001"]), "as PORT=8001");
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  });
});

Deno.test("a second service on the same DATA_DIR refuses with one line and the first goes on", async () => {
  await withFolder(async (folder) => {
    await using first = await startService({ folder });
    assertStringIncludes(await refusal(folder, {}), "DATA_DIR");
    assertEquals((await query(first, demoToken(first), "SELECT 1")).rows, [[1]]);
    assertEquals((await first.stop()).code, 0);
  });
});

Deno.test("a port that is taken stops the start with one line, and no child stays", async () => {
  await withFolder(async (folder) => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    assertStringIncludes(await refusal(folder, { PORT: String(listener.addr.port) }), "PORT");
    assertEquals(await childrenLeft(folder), []);
  });
});

Deno.test("a start that fails over its port or its KV leaves nothing in DATA_DIR, nor a folder that it has made", async () => {
  await withFolder(async (folder) => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    // Nobody answers there: the port is bound by what speaks no HTTP and accepts nobody.
    const port = String(listener.addr.port);
    for (const settings of [{ PORT: port }, { KV_URL: "http://127.0.0.1:1", TENANTS_URL: "file:" }]) {
      await refusal(`${folder}/new/data`, settings);
      await refusal(folder, settings);
      assertEquals(await Array.fromAsync(Deno.readDir(folder)), [], JSON.stringify(settings));
    }
  });
});

Deno.test("a DATA_DIR that cannot be written stops the start with one line", async () => {
  await withFolder(async (folder) => {
    // Under a regular file nobody can make a folder, not even root.
    await Deno.writeTextFile(`${folder}/file`, "");
    assertStringIncludes(await refusal(`${folder}/file/data`, {}), "DATA_DIR");
  });
});

Deno.test("a DATA_DIR whose whole path has a comma that its name has not stops the start with one line", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/a,b`);
    await Deno.symlink(`${folder}/a,b`, `${folder}/link`);
    assertStringIncludes(await refusal(`${folder}/link`, {}), "has no comma");
  });
});

Deno.test("the longest DATA_DIR that a start takes has room for every kind of file, and a longer one stops it with one line", async () => {
  await withFolder(async (folder) => {
    const whole = await Deno.realPath(folder);
    const parts = ["x".repeat(200), "é".repeat(40)].join("/");
    const used = new TextEncoder().encode(`${whole}/${parts}/`).length;
    const longest = `${whole}/${parts}/${"y".repeat(400 - used)}`;
    assertStringIncludes(await refusal(`${longest}y`, {}), "at most 400 bytes");
    await using service = await startService({ folder: longest });
    const token = demoToken(service);
    const ask = async (operation: string, body: unknown) => {
      const answer = await fetch(`${service.url}/v1/db/demo/demo/${operation}`, {
        method: body === null ? "GET" : "POST",
        headers: { authorization: `Bearer ${token}` },
        body: body === null ? null : JSON.stringify(body),
      });
      const text = await answer.text();
      assert(answer.ok, `${operation}: ${text.slice(0, 300)}`);
      return text;
    };
    await ask("query", { sql: "CREATE TABLE long (v)" });
    await ask("query", { sql: "INSERT INTO long VALUES (1)" });
    const { meta } = JSON.parse(await ask("query", { sql: "DELETE FROM long" }));
    await ask("restore", { snapshot: meta.snapshot });
    assertEquals((await query(service, token, "SELECT v FROM long")).rows, [[1]]);
    await ask("claim_branch", { purpose: "long", ref: "1" });
    for (const format of ["sqlite", "sql"]) {
      assert((await ask(`export?format=${format}`, null)).includes("long"));
    }
  });
});

Deno.test("a start whose KV is lost refuses over the databases that it does not know, with one line", async () => {
  await withFolder(async (folder) => {
    await using first = await startService({ folder });
    await first.stop();
    for (const name of ["kv.sqlite3", "kv.sqlite3-wal", "kv.sqlite3-shm"]) {
      await Deno.remove(`${folder}/${name}`).catch(() => {});
    }
    for (let start = 0; start < 2; start++) {
      assertStringIncludes(await refusal(folder, {}), "Bring back the KV");
    }
  });
});

Deno.test("a start without the folders of the databases that its KV knows, as of a disk that is not mounted, is refused", async () => {
  await withFolder(async (folder) => {
    await using first = await startService({ folder });
    await first.stop();
    await Deno.rename(`${folder}/tenants`, `${folder}/away`);
    for (let start = 0; start < 2; start++) {
      assertStringIncludes(await refusal(folder, {}), "Bring back DATA_DIR/tenants");
    }
    // The way on that the refusal names: what is lost is told by each database.
    await Deno.mkdir(`${folder}/tenants/00`);
    {
      await using without = await startService({ folder });
      assertEquals((await without.stop()).code, 0);
    }
    await Deno.remove(`${folder}/tenants`, { recursive: true });
    await Deno.rename(`${folder}/away`, `${folder}/tenants`);
    await using again = await startService({ folder });
    assertEquals((await fetch(`${again.url}/readyz`).then((answer) => answer.json())).data, {
      status: "ready",
    });
  });
});

Deno.test("a DATA_DIR with a file where a folder belongs stops the start with one line", async () => {
  for (const name of ["tenants", "run"]) {
    await withFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/${name}`, "");
      assertStringIncludes(await refusal(folder, {}), "Let DATA_DIR have folders");
    });
  }
});

Deno.test({
  name:
    "a DATA_DIR of which a part is another user's stops the start with one line, and goes on once it is its own",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    // Root may do everything with everybody's files, unless it leaves that right behind.
    const launcher = Deno.uid() === 0 ? ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] : [];
    await withFolder(async (folder) => {
      await using first = await startService({ folder, launcher });
      await first.stop();
      await Deno.mkdir(`${folder}/scratch/left`, { recursive: true });
      for (const part of ["format.json", "run/engine-1", "scratch"]) {
        const { mode } = await Deno.stat(`${folder}/${part}`);
        await Deno.chmod(`${folder}/${part}`, 0);
        assertStringIncludes(
          await refusal(folder, {}, [], launcher),
          "belong to the user who starts the service",
        );
        await Deno.chmod(`${folder}/${part}`, mode ?? 0o700);
      }
      await using again = await startService({ folder, launcher });
      assertEquals((await query(again, demoToken(first), "SELECT count(*) FROM customers")).rows, [[12]]);
    });
  },
});

Deno.test("the first start prints a token and curl lines that work; the second prints neither", async () => {
  await withFolder(async (folder) => {
    await using first = await startService({ folder });
    const lines = first.output().split("\n").map((line) => line.trim()).filter((line) =>
      line.startsWith("curl ")
    );
    assertEquals(lines.length, 3, first.output());
    const hasCurl = await new Deno.Command("sh", { args: ["-c", "command -v curl"], stdout: "null" })
      .output();
    if (!hasCurl.success) print("the curl lines were not run: there is no curl on this machine");
    for (const line of hasCurl.success ? lines : []) {
      const { stdout } = await new Deno.Command("sh", { args: ["-c", line], stderr: "inherit" }).output();
      // A published endpoint answers its rows and no envelope.
      const body = JSON.parse(new TextDecoder().decode(stdout));
      assert(body.success === true || body.rows.length > 0, line);
    }
    const token = demoToken(first);
    assertMatch(first.output(), /operator key/i);
    assertMatch(first.output(), /\n {2}http:\/\/127\.0\.0\.1:\d+\/console\/-\/start\/pstart_\w{38}\n/);
    assertEquals((await first.stop()).code, 0);
    await using second = await startService({ folder });
    assertMatch(
      second.output(),
      /^Cubby listens on (http:\/\/127\.0\.0\.1:\d+)\nIts console is at \1\/console\nIts documentation is at \1\/docs\n$/,
    );
    assertEquals((await query(second, token, "SELECT count(*) FROM customers")).status, 200);
    assertEquals((await second.stop()).code, 0);
    // Behind a proxy it is the port that one is told to send requests to.
    await using third = await startService({ folder, settings: { BASE_URL: "https://db.example.com" } });
    assertMatch(
      third.output(),
      /^Cubby listens on http:\/\/127\.0\.0\.1:\d+\nIts address is https:\/\/db\.example\.com\nIts console is at https:\/\/db\.example\.com\/console\n/,
    );
    assertEquals((await third.stop()).code, 0);
    await using fourth = await startService({ folder, settings: { BASE_URL: "https://example.com/db" } });
    assertMatch(
      fourth.output(),
      /^Cubby listens on (\S+)\nIts address is https:\/\/example\.com\/db\nOnly the API works behind that path; .*\nIts console is at \1\/console\n/,
    );
  });
});

Deno.test("a first start that fails or is ended has said its operator key, and the next one makes the demo", async () => {
  await withFolder(async (folder) => {
    // Nobody answers there: the port is bound by what accepts nobody.
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const silent = `sqld+http://127.0.0.1:${listener.addr.port}?admin=http://127.0.0.1:1`;
    const failing = await launchService({ folder, settings: { TENANTS_URL: silent } });
    assertEquals((await failing.exited).code, 1);
    assertMatch(failing.errors(), /^Start what TENANTS_URL names, or correct it; nobody answers there/);
    const operatorKey = /cub_op_\w{38}/.exec(failing.output())?.[0];
    assert(operatorKey !== undefined, failing.output());
    await using next = await startService({ folder, settings: { TENANTS_URL: "file:" } });
    assertEquals(/cub_op_/.test(next.output()), false);
    assertEquals((await query(next, demoToken(next), "SELECT count(*) FROM customers")).rows, [[12]]);
    const response = await fetch(`${next.url}/api/namespaces`, {
      headers: { authorization: `Bearer ${operatorKey}` },
    });
    assertEquals([response.status, (await response.json()).data.length], [200, 1]);
  });
});

Deno.test("in a DATA_DIR that others may read, the control plane is its owner's alone, also one that was others' before", async () => {
  await withFolder(async (folder) => {
    await Deno.chmod(folder, 0o755);
    const open = async () => {
      const found: string[] = [];
      for await (const { name, isFile } of Deno.readDir(folder)) {
        const { mode } = await Deno.stat(`${folder}/${name}`);
        if (isFile && ((mode ?? 0) & 0o077) !== 0) found.push(name);
      }
      return found.sort();
    };
    await using first = await startService({ folder });
    assertEquals(await open(), []);
    assertEquals((await first.kill()).code, 137);
    for (const end of ["", "-wal"]) await Deno.chmod(`${folder}/kv.sqlite3${end}`, 0o644);
    assertEquals(await open(), ["kv.sqlite3", "kv.sqlite3-wal"]);
    await using second = await startService({ folder });
    assertEquals(await open(), []);
    assertEquals((await query(second, demoToken(first), "SELECT count(*) FROM customers")).rows, [[12]]);
  });
});

Deno.test("where the log cannot be written, as on a full disk, requests are answered as ever", async () => {
  await withFolder(async (folder) => {
    const launcher = ["sh", "-c", 'exec "$@" 2>/dev/full', "sh"];
    await using service = await startService({ folder, settings: { DEMO: "0" }, launcher });
    for (const operatorKey of ["wrong-once", "wrong-twice"]) {
      // Each refusal is told to the log.
      const response = await fetch(`${service.url}/console/-/sign-in/key`, {
        method: "POST",
        headers: { origin: service.url },
        body: new URLSearchParams({ operatorKey }),
      });
      await response.body?.cancel();
      assertEquals(response.status, 401);
    }
    assertEquals((await service.stop()).code, 0);
  });
});

Deno.test("a start whose output cannot be written, as on a full disk, serves all the same", async () => {
  await withFolder(async (folder) => {
    const port = await takePort();
    const launcher = ["sh", "-c", 'exec "$@" >/dev/full', "sh"];
    const settings = { DEMO: "0", OPERATOR_KEY: "operator-key-of-this-test", PORT: String(port) };
    const service = await launchService({ folder, settings, launcher });
    let isServing = false;
    const ended = service.exited.then(() => null);
    while (!isServing && await Promise.race([ended, pause(100).then(() => true)]) !== null) {
      // Whoever calls before it has started waits for it.
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      await answer?.body?.cancel();
      isServing = answer?.status === 200;
    }
    assertEquals([isServing, (await service.stop()).code], [true, 0], service.errors());
    await givePort(port);
  });
});

Deno.test("a first start that cannot show its operator key says so in one line, and the next one shows another", async () => {
  await withFolder(async (folder) => {
    const launcher = ["sh", "-c", 'exec "$@" >/dev/full', "sh"];
    const failed = await launchService({ folder, settings: {}, launcher });
    assertEquals((await failed.exited).code, 1);
    assertMatch(failed.errors(), /^Let standard output take [^\n]+\n$/);
    await using next = await startService({ folder });
    const operatorKey = /cub_op_\w{38}/.exec(next.output())?.[0];
    const headers = { authorization: `Bearer ${operatorKey}` };
    const answer = await fetch(`${next.url}/api/namespaces`, { headers });
    await answer.body?.cancel();
    assertEquals(answer.status, 200, next.output());
  });
});

Deno.test("DEMO=0 makes no namespace; healthz and readyz answer without a bearer as soon as the address is printed", async () => {
  await withFolder(async (folder) => {
    const operatorKey = "operator-key-of-this-test";
    await using service = await startService({ folder, settings: { DEMO: "0", OPERATOR_KEY: operatorKey } });
    for (const path of ["/healthz", "/readyz"]) {
      const response = await fetch(service.url + path);
      assertEquals([response.status, (await response.json()).success], [200, true], path);
    }
    assertEquals(/cub_live_|curl|operator/i.test(service.output()), false, service.output());
    const response = await fetch(`${service.url}/api/namespaces`, {
      headers: { authorization: `Bearer ${operatorKey}` },
    });
    assertEquals([response.status, (await response.json()).data], [200, []]);
  });
});

function connect(service: RunningService): Promise<RawClient> {
  return RawClient.connect(Number(new URL(service.url).port));
}

/** Answers several times over: whatever was sent on other connections before is with the service by then. */
async function roundTrips(client: RawClient): Promise<void> {
  for (let trip = 0; trip < 5; trip++) {
    await client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assertEquals((await client.answer()).status, 200);
  }
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`${signal} lets requests finish, commits queued writes, ends with code 0 and leaves no child`, async () => {
    await withFolder(async (folder) => {
      await using service = await startService({ folder });
      const token = demoToken(service);
      await query(service, token, "CREATE TABLE t (a)");
      using connections = new DisposableStack();
      const clients = await Promise.all(Array.from({ length: 23 }, () => connect(service)));
      for (const client of clients) connections.use(client);
      // A connection that the service has not accepted by the signal is refused.
      await Promise.all(clients.map(roundTrips));
      const [last, ...asking] = clients;
      // The second holds the write slot, so that those behind it are queued when the signal comes.
      const statements = [SLOW, `INSERT INTO t SELECT -1 WHERE (${SLOW}) > 0`]
        .concat(Array.from({ length: 20 }, (_, at) => `INSERT INTO t VALUES (${at})`));
      for (const [at, sql] of statements.entries()) {
        const body = JSON.stringify({ sql });
        const head =
          `POST /v1/db/demo/demo/query HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
        await asking[at]?.send(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      }
      if (last) await roundTrips(last);
      const ended = service.stop(signal);
      const answers = await Promise.all(asking.map((client) => client.answer()));
      assertEquals(answers.map(({ status }) => status), Array(22).fill(200));
      const status = await ended;
      assertEquals([status.code, status.signal], [0, null]);
      assertEquals(await engineChildren(folder), []);
      await using again = await startService({ folder });
      assertEquals((await query(again, token, "SELECT count(*), sum(a) FROM t")).rows, [[21, 189]]);
    });
  });
}

Deno.test("a stop lets a body that is on its way arrive, and runs what it asks for", async () => {
  await withFolder(async (folder) => {
    await using service = await startService({ folder });
    const token = demoToken(service);
    await query(service, token, "CREATE TABLE t (a)");
    const body = JSON.stringify({ sql: "INSERT INTO t VALUES (1)" });
    const head =
      `POST /v1/db/demo/demo/query HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
    using client = await connect(service);
    using other = await connect(service);
    await client.send(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`);
    // Both connections have been served by the signal.
    await roundTrips(other);
    const ended = service.stop();
    await untilRefused(service);
    await client.send(body.slice(10));
    assertEquals((await client.answer()).status, 200);
    assertEquals((await ended).code, 0);
    await using again = await startService({ folder });
    assertEquals((await query(again, token, "SELECT a FROM t")).rows, [[1]]);
  });
});

Deno.test("a stop tells an upload and a body that do not arrive to be sent again, not to be sent faster", async () => {
  await withFolder(async (folder) => {
    await using service = await startService({ folder });
    const token = demoToken(service);
    const head = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100000\r\n\r\n`;
    using importing = await connect(service);
    using asking = await connect(service);
    using calling = await connect(service);
    using other = await connect(service);
    await importing.send(`${head("/v1/db/demo/demo/import?format=sql&mode=replace")}CREATE TABLE t (a);`);
    await asking.send(`${head("/v1/db/demo/demo/query")}{"sql":`);
    await calling.send(`${head("/p/demo/demo/create-product")}{"sql":`);
    await roundTrips(other);
    const ended = service.stop();
    for (const client of [importing, asking, calling]) {
      const { status, body } = await client.answer();
      assertEquals([status, JSON.parse(body).code], [503, "shutting_down"]);
    }
    assertEquals((await ended).code, 0);
  });
});

/** Once the signal has reached the service it accepts no connection. */
async function untilRefused({ url }: RunningService): Promise<void> {
  for (;;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(url).port) })).close();
    } catch {
      return;
    }
    await pause(10);
  }
}

Deno.test("readyz names a control plane of which a page is damaged, while other records can be read", async () => {
  await withFolder(async (folder) => {
    const operatorKey = "operator-key-of-this-test";
    const settings = { DEMO: "0", OPERATOR_KEY: operatorKey };
    const ready = async ({ url }: RunningService) => (await (await fetch(`${url}/readyz`)).json()).data;
    await using first = await startService({ folder, settings });
    const make = async (path: string, body: object) => {
      const response = await fetch(`${first.url}/api/namespaces${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${operatorKey}` },
        body: JSON.stringify(body),
      });
      assertEquals(response.status, 201, await response.text());
    };
    await make("", { slug: "acme", name: "Acme" });
    for (let at = 0; at < 90; at++) await make("/acme/tokens", { name: "x".repeat(64), role: "read" });
    assertEquals(await ready(first), { status: "ready" });
    assertEquals((await first.stop()).code, 0);
    const path = `${folder}/kv.sqlite3`;
    const bytes = await Deno.readFile(path);
    const found = new TextDecoder("latin1").decode(bytes).lastIndexOf("x".repeat(64));
    assert(found > 0);
    bytes.fill(255, found - found % 4096, found - found % 4096 + 4096);
    await Deno.writeFile(path, bytes);
    await using second = await startService({ folder, settings });
    // Each look reads on; a page far behind is met by a later one. A busy machine may answer 503 meanwhile.
    let told = await ready(second);
    for (let look = 0; told?.status !== "degraded" && look < 60; look++) {
      await pause(500);
      told = await ready(second);
    }
    assertEquals(told, { status: "degraded", degraded: [{ part: "kv", reason: "damaged" }] });
  });
});

Deno.test("after kill -9 under writes every acknowledged one is there, and no child stays", async () => {
  await withFolder(async (folder) => {
    await using service = await startService({ folder });
    const token = demoToken(service);
    await query(service, token, "CREATE TABLE t (a TEXT UNIQUE)");
    const acknowledged: string[] = [];
    let unanswered = 0;
    const writer = async (name: number) => {
      for (let n = 0;; n++) {
        const key = `w${name}-${n}`;
        try {
          const { status } = await query(service, token, `INSERT INTO t VALUES ('${key}')`);
          assertEquals(status, 200);
          acknowledged.push(key);
        } catch (error) {
          if (!(error instanceof TypeError)) throw error; // the connection broke
          unanswered++;
          return;
        }
      }
    };
    const writers = Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)));
    writers.catch(() => {}); // told below
    while (acknowledged.length <= 50) await pause(10);
    await service.kill();
    await writers;
    assertEquals(await childrenLeft(folder), []);
    await using again = await startService({ folder });
    const { rows } = await query(again, token, "SELECT a FROM t");
    const kept = new Set((rows as string[][]).flat());
    assertEquals(acknowledged.filter((key) => !kept.has(key)), []);
    assert(kept.size <= acknowledged.length + unanswered, `${kept.size} rows`);
    const [[audits] = []] = (await query(
      again,
      token,
      "SELECT count(*) FROM _service_meta_audit WHERE tables = '[\"t\"]' AND rows_written = 1",
    )).rows as number[][];
    assertEquals(audits, kept.size);
  });
});

Deno.test("an archive that takes connections and never answers does not keep a start back until its requests end", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_start_" });
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const settings = {
    ...{ DEMO: "0", ARCHIVE_ACCESS_KEY_ID: "id", ARCHIVE_SECRET_ACCESS_KEY: "secret" },
    ARCHIVE_URL: `s3://bucket/cubby?endpoint=http://127.0.0.1:${silent.addr.port}&region=eu`,
  };
  // As the service asks for a piece, and begun before it starts.
  let hasEnded = false;
  const piece = new S3Objects({
    ...{ endpoint: `http://127.0.0.1:${silent.addr.port}`, bucket: "bucket", prefix: "cubby/", region: "eu" },
    ...{ accessKeyId: "id", secretAccessKey: "secret" },
  }).get("piece").catch(() => hasEnded = true);
  try {
    await using service = await startService({ folder, settings });
    assertEquals(hasEnded, false);
    assertStringIncludes(service.errors(), '"archive_away","reason":"TimeoutError"');
    assertEquals((await service.stop()).code, 0);
  } finally {
    silent.close();
    await piece;
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the log says why an archive does not answer: a key that is refused, or a link to a disk that is away", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_start_" });
  await using refusing = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("<Error><Code>SignatureDoesNotMatch</Code></Error>", { status: 403 }),
  );
  await Deno.symlink(`${folder}/unplugged`, `${folder}/disk`);
  const endpoint = `http://127.0.0.1:${refusing.addr.port}`;
  const keys = { ARCHIVE_ACCESS_KEY_ID: "id", ARCHIVE_SECRET_ACCESS_KEY: "mistyped" };
  try {
    for (
      const [url, reason] of [
        [`s3://bucket/cubby?endpoint=${endpoint}&region=eu`, "Status403"],
        [`file:${folder}/disk/cubby`, "NotFound"],
      ] as const
    ) {
      const settings = { ...keys, DEMO: "0", ARCHIVE_URL: url };
      await using service = await startService({ folder: `${folder}/data`, settings });
      assertStringIncludes(service.errors(), `"archive_away","reason":"${reason}"`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
