// `deno run -A tests/bench/doors.ts`: the door for libSQL beside `/v1` and sqld: point reads over HTTP and sockets, batches of
// 100, and what an open transaction costs others. In turns; `--seconds N` (2) a turn, `--rounds N` (3), medians: answers a
// second, and the processor's time an answer, of the server's process and of those that it has started. The time holds beside
// other load as well. What a tool of the other door costs is in mcp_bench.ts.
import { print } from "../testing/print.ts";
import { wholeBatch } from "../hrana/hrana_world.ts";
import { type BenchRequest, type BenchStatement, fetchOptions, sendOnce } from "./bench_target.ts";
import { chooseLoad } from "./load.ts";
import { median } from "./median.ts";
import { ownCpuSeconds, processCpuSeconds } from "./process_cpu.ts";
import { serviceTarget } from "./service_target.ts";
import { socketLoad } from "./socket_load.ts";
import { sqldTarget } from "./sqld_target.ts";

const ROWS = 10_000;
const optionOf = (name: string, unless: number) => {
  const at = Deno.args.indexOf(`--${name}`);
  return at < 0 ? unless : Number(Deno.args[at + 1]);
};
const seconds = optionOf("seconds", 2);
const rounds = optionOf("rounds", 3);

const read: BenchStatement = { sql: "SELECT v FROM t WHERE id = ?", params: [77] };
const insert: BenchStatement = { sql: "INSERT INTO w (v) VALUES (?)", params: ["x"] };
const stmt = ({ sql, params }: BenchStatement) => ({
  sql,
  args: params.map((value) => ({
    type: typeof value === "number" ? "integer" : "text",
    value: String(value),
  })),
});

/** What was answered in one turn. */
interface Turn {
  readonly perSecond: number;
  readonly requests: number;
}

/** A case: the process that answers, and a turn of it. */
interface DoorCase {
  readonly pid: number;
  readonly run: () => Promise<Turn>;
}

/** Of one turn; null where there is no /proc. */
interface Figures {
  readonly perSecond: number;
  readonly ownMicros: number | null;
  readonly othersMicros: number | null;
}

interface Door {
  readonly url: string;
  readonly pid: number;
  readonly path: string;
  readonly token: string | null;
}

function pipeline({ path, token }: Door, ...requests: readonly unknown[]): BenchRequest {
  const headers = { "content-type": "application/json" };
  return {
    path: `${path}v2/pipeline`,
    headers: token === null ? headers : { ...headers, authorization: `Bearer ${token}` },
    body: JSON.stringify({ baton: null, requests }),
  };
}

const one = (door: Door, statement: BenchStatement) =>
  pipeline(door, { type: "execute", stmt: stmt(statement) }, { type: "close" });

async function fill(door: Door): Promise<void> {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;
  for (
    const sql of [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)",
      "CREATE TABLE w (id INTEGER PRIMARY KEY, v TEXT)",
      `${numbers} INSERT INTO t SELECT i, 'row ' || i FROM n`,
    ]
  ) await sendOnce({ name: "service", url: door.url }, one(door, { sql, params: [] }));
}

async function measure(): Promise<void> {
  const service = await serviceTarget();
  const sqld = await sqldTarget();
  const { load } = await chooseLoad();
  const query = service.query(read);
  const [, namespace = "", database = ""] = /\/v1\/db\/([^/]+)\/([^/]+)\//.exec(query.path) ?? [];
  const token = /Bearer (\S+)/.exec(query.headers["authorization"] ?? "")?.[1] ?? null;
  const here: Door = { url: service.url, pid: service.pid, path: `/hrana/${namespace}/${database}/`, token };
  const there: Door | null = sqld && { url: sqld.url, pid: sqld.pid, path: "/", token: null };
  const doors = Object.entries({ here, ...(there && { sqld: there }) });
  for (const [, door] of doors) await fill(door);
  const http = ({ url, pid }: Pick<Door, "url" | "pid">, request: BenchRequest, connections: number) => ({
    pid,
    run: () => load({ url, requests: [request], connections, seconds }),
  });
  const hundred = wholeBatch(Array.from({ length: 100 }, () => "INSERT INTO w (v) VALUES ('x')"));
  const cases: Record<string, DoorCase> = {};
  for (const connections of [1, 32]) {
    cases[`/query, http, ${connections}`] = http(here, query, connections);
    for (const [name, door] of doors) {
      cases[`${name}, http, ${connections}`] = http(door, one(door, read), connections);
      cases[`${name}, ws, ${connections}`] = {
        pid: door.pid,
        run: () => socketLoad({ ...door, statement: stmt(read), connections, seconds }),
      };
    }
  }
  cases["/batch of 100"] = http(
    here,
    service.transaction(Array.from({ length: 100 }, () => insert)),
    1,
  );
  for (const [name, door] of doors) {
    cases[`${name}, batch of 100`] = http(
      door,
      pipeline(door, { type: "batch", batch: hundred }, { type: "close" }),
      1,
    );
  }
  const inserts = cases["/query inserts, 8"] = http(here, service.query(insert), 8);
  cases["/query inserts, 8, beside an idle transaction"] = {
    pid: here.pid,
    run: () => besideTransaction(here, inserts.run),
  };
  const results = new Map(Object.keys(cases).map((name) => [name, [] as Figures[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, one] of Object.entries(cases)) results.get(name)?.push(await figuresOf(one));
  }
  for (const [name, all] of results) print(lineOf(name, all));
  await service.stop();
  await sqld?.stop();
}

async function figuresOf({ pid, run }: DoorCase): Promise<Figures> {
  const [own, all] = spent(pid);
  const { perSecond, requests } = await run();
  const [ownAfter, allAfter] = spent(pid);
  const micros = (seconds: number) => seconds / Math.max(1, requests) * 1e6;
  if (all === null || allAfter === null) return { perSecond, ownMicros: null, othersMicros: null };
  return {
    perSecond,
    ownMicros: micros(ownAfter - own),
    othersMicros: micros(allAfter - all - (ownAfter - own)),
  };
}

/** Seconds that the process has computed, and it with those that it has started. */
function spent(pid: number): readonly [own: number, all: number | null] {
  const all = processCpuSeconds(pid);
  return [all === null ? 0 : ownCpuSeconds(pid), all];
}

function lineOf(name: string, all: readonly Figures[]): string {
  const rate = Math.round(median(all.map(({ perSecond }) => perSecond)));
  const micros = (figure: (one: Figures) => number | null) => {
    const known = all.flatMap((one) => figure(one) ?? []);
    return known.length === 0 ? "-" : median(known).toFixed(0);
  };
  const own = micros(({ ownMicros }) => ownMicros);
  const others = micros(({ othersMicros }) => othersMicros);
  return `${name.padEnd(48)} ${rate.toLocaleString("en").padStart(8)} a second ` +
    `${own.padStart(7)} µs an answer, ${others.padStart(5)} µs of its children`;
}

/** BEGIN and nothing else, as an application has it that waits for something. */
async function besideTransaction(door: Door, run: () => Promise<Turn>): Promise<Turn> {
  const begin = pipeline(door, { type: "execute", stmt: { sql: "BEGIN IMMEDIATE" } });
  const open = await fetch(door.url + begin.path, fetchOptions(begin));
  const { baton } = await open.json();
  if (typeof baton !== "string") throw new Error("no transaction was opened");
  return await run();
}

if (import.meta.main) await measure();
