// What one caller's statements may take of the machine's memory, under the permissions that people run the service with.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { callService, manage, newToken, type ServiceAnswer, serviceWorld } from "../testing/service_world.ts";
import { engineChildren } from "../testing/engine_children.ts";
import { launchService } from "../testing/start_service.ts";

const ROWS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2000000)";

/** Between two looks and between two small calls: they take no processor from what is looked at. */
/** The largest size that any child of the folder reaches until `work` settles, in MB. Linux only: 0 elsewhere. */
async function peakWhile<T>(folder: string, work: Promise<T>): Promise<{ result: T; peakMb: number }> {
  let [done, peakKb] = [false, 0];
  const watched = work.finally(() => done = true);
  while (!done) {
    for (const pid of await engineChildren(folder)) {
      const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
      peakKb = Math.max(peakKb, Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0));
    }
    await pause(50);
  }
  return { result: await watched, peakMb: peakKb / 1024 };
}

Deno.test("a result beyond the bounds ends while its rows are read, with little memory", async () => {
  await using world = await serviceWorld();
  const large = [
    `${ROWS} SELECT x, zeroblob(1000) FROM c`,
    `${ROWS} SELECT x FROM c`,
    `${ROWS} SELECT zeroblob(100000), x FROM c LIMIT 90000`,
    `${ROWS} SELECT replace(hex(zeroblob(500)), '0', 'ab') || x AS t FROM c ORDER BY x LIMIT 20000`,
    `-- a comment\n${ROWS} SELECT * FROM (SELECT printf('%5000d', x) FROM c LIMIT 90000); -- and another`,
  ];
  for (const sql of large) {
    const { result, peakMb } = await peakWhile(world.folder, callService(world, sql));
    assertEquals([result.status, result.body.code], [400, "result_too_large"], sql);
    assert(peakMb < 300, `${sql}: ${peakMb} MB`);
  }
});

Deno.test("the largest results, three at once, arrive whole and take a bounded part of the memory of both processes", async () => {
  // They wait for each other, on a busy machine for long.
  await using world = await serviceWorld({ QUERY_TIMEOUT_MS: "120000" });
  const sql = `${ROWS} SELECT x, printf('%150d', x) AS t FROM c LIMIT 99000`;
  const answers = Promise.all(Array.from({ length: 3 }, () => callService(world, sql)));
  const { result, peakMb } = await peakWhile(world.folder, answers);
  for (const { status, body } of result) {
    assertEquals([status, body.data?.rows.length], [200, 99_000]);
    assertEquals(body.data?.rows.at(-1), [99_000, "99000".padStart(150)]);
  }
  assert(peakMb < 400, `a child: ${peakMb} MB`);
  const serviceMb = await residentPeakMb(world.service.pid);
  assert(serviceMb < 600, `the service: ${serviceMb} MB`);
});

/** The largest size that a process has had, in MB. Linux only: 0 elsewhere. */
async function residentPeakMb(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

Deno.test("a child that passes its bound of memory is ended, and the others' work goes on", async () => {
  // So many rows are allowed that only the memory of the child bounds them.
  await using world = await serviceWorld({
    ...{ MAX_RESULT_ROWS: "10000000", MAX_RESULT_BYTES: "134217728" },
    // On a busy machine it takes long to take so much.
    QUERY_TIMEOUT_MS: "120000",
  });
  const rows = ROWS.replace("2000000", "9000000");
  const { result, peakMb } = await peakWhile(
    world.folder,
    callService(world, `${rows} SELECT zeroblob(1), zeroblob(1), zeroblob(1) FROM c`),
  );
  assertEquals([result.status, result.body.code], [400, "result_too_large"]);
  // Neither the rows nor the bytes of the result have ended it.
  assertMatch(world.service.errors(), /"event":"engine_child_ended","reason":"memory"/);
  assert(peakMb < 1100, `${peakMb} MB`);
  assertEquals((await callService(world, "SELECT 1")).status, 200);
});

Deno.test("statements that stay compiled do not fill the engine's memory, for their database or for another namespace", async () => {
  await using world = await serviceWorld();
  await manage(world, "", { slug: "other" });
  const other = { ...world, token: await newToken(world, "admin", "other") };
  // Some of them are at home in the same child.
  const slugs = ["a", "b", "c", "d"];
  for (const slug of slugs) {
    await manage(world, "/other/databases", { slug });
    assertEquals((await callService(other, "CREATE TABLE t (a)", `other/${slug}`)).status, 200);
  }
  const statuses = new Set<number>();
  // Some 60 of them fill what SQLite may hold in a process.
  for (let at = 0; at < 70; at++) {
    statuses.add((await callService(world, `SELECT ${at} AS n WHERE 1 IN (${"1,".repeat(20_000)}1)`)).status);
    for (const slug of at < 50 ? [] : slugs) {
      const written = await callService(other, `INSERT INTO t VALUES (${at})`, `other/${slug}`);
      const read = await callService(other, "SELECT length(hex(zeroblob(5000000)))", `other/${slug}`);
      assertEquals([written.status, read.status, read.body.data?.rows], [200, 200, [[10_000_000]]]);
    }
  }
  assertEquals([...statuses], [200]);
});

/** What reads it takes some 10 MB once it is compiled. */
const LARGE_VIEW = `CREATE VIEW large AS SELECT 1 WHERE ${
  Array.from({ length: 4 }, () => `2 IN (${"1,".repeat(20_000)}1)`).join(" AND ")
}`;
const ROUNDS = 12;
/** Takes some 70 MB while it runs, and nothing to speak of when it is compiled. */
const needs = (bytes: string) =>
  `(WITH m(a) AS MATERIALIZED (VALUES ${
    Array(3).fill(`(hex(zeroblob(${bytes})))`)
  }) SELECT max(length(a)) FROM m)`;
const NEEDS = needs("9000000");

type Call = (path: string, body: unknown) => Promise<ServiceAnswer>;

const writes: Readonly<Record<string, (call: Call) => Promise<ServiceAnswer>>> = {
  "a statement whose failure ends its transaction": (call) =>
    call("query", { sql: `INSERT INTO t VALUES (${NEEDS})` }),
  "a statement whose failure undoes itself only": (call) =>
    call("query", { sql: `INSERT INTO t SELECT ${NEEDS}` }),
  "a batch": (call) =>
    call("batch", {
      statements: ["'x'", NEEDS, "'y'"].map((value) => ({ sql: `INSERT INTO t VALUES (${value})` })),
    }),
  "parameter sets": (call) =>
    call("batch", { sql: `INSERT INTO t VALUES (${needs("?1")})`, paramSets: [[1], [9_000_000]] }),
  "a proposal": (call) => call("propose", { sql: `INSERT INTO t VALUES (${NEEDS})` }),
};

Deno.test("a write that finds no memory while it runs, because of what stays compiled, is not refused", async () => {
  await using world = await serviceWorld();
  for (const sql of ["CREATE TABLE t (a)", LARGE_VIEW]) {
    assertEquals((await callService(world, sql)).status, 200);
  }
  const call: Call = async (path, body) => {
    const response = await fetch(`${world.service.url}/v1/db/acme/main/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  for (const [name, write] of Object.entries(writes)) {
    // Some of them leave less than the write needs.
    for (let at = 0; at < ROUNDS; at++) {
      const kept = await callService(world, `INSERT INTO t SELECT ${at} FROM large`);
      assertEquals(kept.status, 200, JSON.stringify(kept.body));
      const { status, body } = await write(call);
      assertEquals(status, 200, `${name}, ${at}: ${JSON.stringify(body)}`);
    }
  }
  const { body } = await callService(world, "SELECT a, count(*) FROM t GROUP BY a ORDER BY a");
  assertEquals(body.data?.rows, [[2, ROUNDS], [18_000_000, 4 * ROUNDS], ["x", ROUNDS], ["y", ROUNDS]]);
});

/** What all children of the folder hold at their largest until `work` settles, in MB. Linux only: 0 elsewhere. */
async function sumWhile<T>(folder: string, work: Promise<T>): Promise<{ result: T; sumMb: number }> {
  let [done, mostKb] = [false, 0];
  const watched = work.finally(() => done = true);
  while (!done) {
    let sumKb = 0;
    for (const pid of await engineChildren(folder)) {
      const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
      sumKb += Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0);
    }
    mostKb = Math.max(mostKb, sumKb);
    await pause(50);
  }
  return { result: await watched, sumMb: mostKb / 1024 };
}

Deno.test("all children together keep to ENGINE_MEMORY_MB: the largest read is ended, small ones go on", async () => {
  const settings = {
    ...{ MAX_RESULT_ROWS: "10000000", MAX_RESULT_BYTES: "134217728", ENGINE_MEMORY_MB: "512" },
    // On a busy machine it takes long to take so much.
    QUERY_TIMEOUT_MS: "120000",
  };
  await using world = await serviceWorld(settings);
  const rows = ROWS.replace("2000000", "9000000");
  const large = Array.from(
    { length: 3 },
    (_, at) => callService(world, `${rows} SELECT x, x, x, x, ${at} FROM c`),
  );
  let ended = false;
  const small = async () => {
    const answers = [];
    while (!ended) {
      answers.push(await callService(world, "SELECT 1"));
      await pause(50);
    }
    return answers;
  };
  const reads = Promise.all(large).finally(() => ended = true);
  const { result: [answers, others], sumMb } = await sumWhile(world.folder, Promise.all([reads, small()]));
  const outcomes = answers.map(({ status, body }) => `${status} ${body.code}`);
  assert(outcomes.includes("400 result_too_large"), outcomes.join());
  // One that is given no slot until its time is over has taken no memory.
  for (const outcome of outcomes) assertMatch(outcome, /^(400 result_too_large|503 database_busy)$/);
  for (const { status, body } of others) assertEquals([status, body.code], [200, undefined]);
  // With no bound for all of them they hold more than 800 MB.
  assert(sumMb < 700, `${sumMb} MB`);
});

Deno.test("where a child cannot start under a bound of memory the service does not start, and says so", async () => {
  if (Deno.build.os !== "linux") return;
  const folder = await Deno.makeTempDir();
  // Enough for the service and too little for a child, which has two threads of JavaScript.
  const launcher = ["sh", "-c", 'ulimit -d 900000; exec "$@"', "sh"];
  const service = await launchService({ folder, settings: { TENANTS_URL: "file:" }, launcher });
  assertEquals((await service.exited).code, 1);
  assertEquals(
    service.errors().trimEnd().split("\n").at(-1),
    "Let engine processes start under a bound of memory; the first one ended or did not say what it holds",
  );
  await Deno.remove(folder, { recursive: true });
});
