// `deno run -A tests/bench/doors.ts`: the door for libSQL beside `/v1` and sqld: point reads over HTTP and sockets, batches of
// 100, and what an open transaction costs others. In turns; `--seconds N` (2) a turn, `--rounds N` (3), medians. What a tool
// of the other door costs is in mcp_bench.ts.
import { print } from "../testing/print.ts";
import { wholeBatch } from "../hrana/hrana_world.ts";
import { type BenchRequest, type BenchStatement, fetchOptions, sendOnce } from "./bench_target.ts";
import { chooseLoad } from "./load.ts";
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

interface Door {
  readonly url: string;
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
  const here: Door = { url: service.url, path: `/hrana/${namespace}/${database}/`, token };
  const there: Door | null = sqld && { url: sqld.url, path: "/", token: null };
  const doors = Object.entries({ here, ...(there && { sqld: there }) });
  for (const [, door] of doors) await fill(door);
  const http = (url: string, request: BenchRequest, connections: number) => async () =>
    (await load({ url, requests: [request], connections, seconds })).perSecond;
  const hundred = wholeBatch(Array.from({ length: 100 }, () => "INSERT INTO w (v) VALUES ('x')"));
  const cases: Record<string, () => Promise<number>> = {};
  for (const connections of [1, 32]) {
    cases[`/query, http, ${connections}`] = http(service.url, query, connections);
    for (const [name, door] of doors) {
      cases[`${name}, http, ${connections}`] = http(door.url, one(door, read), connections);
      cases[`${name}, ws, ${connections}`] = () =>
        socketLoad({ ...door, statement: stmt(read), connections, seconds });
    }
  }
  cases["/batch of 100"] = http(
    service.url,
    service.transaction(Array.from({ length: 100 }, () => insert)),
    1,
  );
  for (const [name, door] of doors) {
    cases[`${name}, batch of 100`] = http(
      door.url,
      pipeline(door, { type: "batch", batch: hundred }, { type: "close" }),
      1,
    );
  }
  cases["/query inserts, 8"] = http(service.url, service.query(insert), 8);
  cases["/query inserts, 8, beside an idle transaction"] = () =>
    besideTransaction(here, http(service.url, service.query(insert), 8));
  const results = new Map(Object.keys(cases).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(cases)) results.get(name)?.push(await run());
  }
  for (const [name, all] of results) {
    const median = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
    print(`${name.padEnd(48)} ${Math.round(median).toLocaleString("en").padStart(8)} a second`);
  }
  await service.stop();
  await sqld?.stop();
}

/** BEGIN and nothing else, as an application has it that waits for something. */
async function besideTransaction(door: Door, run: () => Promise<number>): Promise<number> {
  const begin = pipeline(door, { type: "execute", stmt: { sql: "BEGIN IMMEDIATE" } });
  const open = await fetch(door.url + begin.path, fetchOptions(begin));
  const { baton } = await open.json();
  if (typeof baton !== "string") throw new Error("no transaction was opened");
  return await run();
}

if (import.meta.main) await measure();
