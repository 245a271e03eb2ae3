// `deno run -A tests/bench/page_blocks.ts [case…]`: how long the service is kept from other calls while it makes a large page of
// the console. Another task asks for its turn over and over; the most processor time of this thread that passes between two of
// its turns, in each of `--rounds` (15) visits. It is not the time of a clock: what others do on the machine adds nothing.
import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { newId } from "../../lib/core/ids.ts";
import type { ApprovalRecord } from "../../lib/store/write_records.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import { print } from "../testing/print.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

const APPROVALS = 5_000;
const WIDE = Array.from({ length: 950 }, (_, at) => `a_column_${at} INTEGER NOT NULL DEFAULT 0`).join(", ");
const TWELVE = Array.from({ length: 10 }, (_, at) => `'some text ' || i AS c${at}`).join(", ");
const COUNTING = (rows: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) ` +
  `SELECT i, i * 1.5 AS half, ${TWELVE} FROM n`;
const SQL = "/console/acme/db/main/sql";

interface Page {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly fields?: Readonly<Record<string, string>>;
}

const run = (sql: string): Page => ({ method: "POST", path: SQL, fields: { sql, do: "run" } });
const download = (format: string): Page => ({
  method: "POST",
  path: `${SQL}/download`,
  fields: { sql: COUNTING(20_000), format },
});

const cases: Readonly<Record<string, (held: string) => Page>> = {
  "SQL: a result of 200 rows of 12 columns": () => run(COUNTING(300)),
  "SQL: five results of 200 rows of 12 columns": () => run(Array(5).fill(COUNTING(300)).join("; ")),
  "SQL: five results of 950 rows of 6 columns": () =>
    run(Array(5).fill("PRAGMA table_info(wide)").join("; ")),
  "CSV of 20,000 rows of 12 columns": () => download("csv"),
  "JSON of 20,000 rows of 12 columns": () => download("json"),
  "table of 200 rows of 12 columns": () => ({ method: "GET", path: "/console/acme/db/main/tables/big" }),
  "any page beside 5,000 approvals": () => ({ method: "GET", path: "/console/acme/members" }),
  "inbox of 5,000 approvals": () => ({ method: "GET", path: "/console/acme/approvals" }),
  "inbox asked whether it has changed": () => ({
    method: "GET",
    path: "/console/acme/approvals/since?seen=",
  }),
  "an approval of 500 rows": (held) => ({ method: "GET", path: `/console/acme/approvals/${held}?rows=all` }),
  "API: 20,000 rows of 12 columns, to compare": () => ({
    method: "POST",
    path: "/v1/db/acme/main/query",
    fields: { sql: COUNTING(20_000) },
  }),
};

const roundsAt = Deno.args.indexOf("--rounds");
const rounds = roundsAt < 0 ? 15 : Number(Deno.args[roundsAt + 1]);
const words = Deno.args.filter((_, at) => roundsAt < 0 || (at !== roundsAt && at !== roundsAt + 1));

/** `CLOCK_THREAD_CPUTIME_ID` of Linux: no clock of the runtime tells the time of one thread. */
const THREAD_CLOCK = 3;
const clockTime = new BigInt64Array(2);
const libc = Deno.dlopen("libc.so.6", {
  clock_gettime: { parameters: ["i32", "buffer"], result: "i32" },
});
const app = await startApp();
const namespace = await app.namespace("acme");
await namespace.setup(
  `CREATE TABLE wide (${WIDE})`,
  `CREATE TABLE big AS ${COUNTING(2_000)}`,
  "CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT, price INTEGER)",
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO goods SELECT i, 'good ' || i, i FROM n",
);
const person = await signIn(app, { role: "admin" });
const held = await holdOne(app, namespace);
await addApprovals(app, held);
print("page | longest wait of others, ms: median (most) | whole page, ms");
for (const [name, make] of Object.entries(cases)) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  const waits: number[] = [];
  const tookMs: number[] = [];
  for (let round = -3; round < rounds; round++) {
    const startedMs = performance.now();
    const wait = await longestWait(() => visit(app, make(held), person));
    if (round < 0) continue;
    waits.push(wait);
    tookMs.push(performance.now() - startedMs);
  }
  waits.sort((a, b) => a - b);
  tookMs.sort((a, b) => a - b);
  const median = (times: number[]) => (times[times.length >> 1] ?? 0).toFixed(1);
  print(`${name} | ${median(waits)} (${(waits.at(-1) ?? 0).toFixed(1)}) | ${median(tookMs)}`);
}
await app.stop();
libc.close();

/** Milliseconds that this thread has run so far. */
function ranMs(): number {
  libc.symbols.clock_gettime(THREAD_CLOCK, clockTime);
  return Number(clockTime[0]) * 1e3 + Number(clockTime[1]) / 1e6;
}

/** Milliseconds that somebody who asks for a turn of the event loop waits at most while `work` is done. */
async function longestWait(work: () => Promise<void>): Promise<number> {
  let working = true;
  let longest = 0;
  const other = (async () => {
    let lastMs = ranMs();
    while (working) {
      await setImmediate();
      const nowMs = ranMs();
      longest = Math.max(longest, nowMs - lastMs);
      lastMs = nowMs;
    }
  })();
  await work();
  working = false;
  await other;
  return longest;
}

async function visit(app: StartedApp, { method, path, fields }: Page, person: TestPerson): Promise<void> {
  const isApi = path.startsWith("/v1");
  const response = await app.app.request(path, {
    method,
    headers: isApi ? { authorization: `Bearer ${namespace.token}`, "content-type": "application/json" } : {
      cookie: person.cookie,
      ...(method === "POST"
        ? { origin: new URL(app.deps.baseUrl).origin, "content-type": "application/x-www-form-urlencoded" }
        : {}),
    },
    ...(fields === undefined ? {} : {
      body: isApi
        ? JSON.stringify(fields)
        : new URLSearchParams({ ...fields, csrf: person.csrfToken }).toString(),
    }),
  }, { remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 } });
  assertEquals(response.status, 200, path);
  for await (const _ of response.body ?? []) {
    // As a socket takes it: piece by piece, and nothing is kept.
  }
}

async function holdOne(app: StartedApp, namespace: TestNamespace): Promise<string> {
  await app.request("POST", "/api/namespaces/acme/databases/main/rules", {
    token: namespace.token,
    body: { tableGlob: "goods", effect: "require_approval" },
  });
  const agent = await namespace.mint("write");
  const answer = await namespace.query("UPDATE goods SET price = price + 1", [], { token: agent.token });
  return new URL(JSON.parse(answer.text).approvalUrl).pathname.split("/").at(-1) ?? "";
}

/** Copies of one, over many databases: half of them wait, half were denied. */
async function addApprovals({ deps: { control, query, clock } }: StartedApp, held: string): Promise<void> {
  const record = await control.namespaces.bySlug("acme");
  const first = await query.approvals.byId(record?.id ?? "", held);
  if (first === null) throw new TypeError("there is no approval");
  for (let at = 0; at < APPROVALS; at++) {
    const copy: ApprovalRecord = {
      ...first,
      id: newId("apv", clock.now() - at * 1000),
      tokenHash: crypto.randomUUID(),
      requestedBy: newId("tok", clock.now()),
      databaseId: `db_${at % 50}`,
      state: at % 2 === 0 ? "pending" : "denied",
    };
    await query.approvals.add(copy);
  }
}
