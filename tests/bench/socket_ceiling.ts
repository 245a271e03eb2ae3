// `deno run -A tests/bench/socket_ceiling.ts`: how far ahead of sqld any server can be by libSQL's sockets on this machine. A
// server that computes nothing (no SQL, no token, no log: one ready-made answer) stands beside sqld and the service's door, asked
// by @libsql/client and by bare sockets, each from a process of its own; `--seconds N` (2), `--rounds N` (3), medians.
// @ts-types="../hrana/libsql_client.d.ts"
import { createClient } from "@libsql/client/ws";
import { print } from "../testing/print.ts";
import { median } from "./median.ts";
import { serverProcess } from "./server_process.ts";
import { serviceTarget } from "./service_target.ts";
import { socketLoad } from "./socket_load.ts";
import { sqldTarget } from "./sqld_target.ts";

const READ = "SELECT v FROM t WHERE id = ?";
const STATEMENT = { sql: READ, args: [{ type: "integer", value: "77" }] };
const FILL = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)",
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO t SELECT i, 'row ' || i FROM n",
];
const RESULT = {
  type: "execute",
  result: {
    cols: [{ name: "v", decltype: "TEXT" }],
    rows: [[{ type: "text", value: "row 77" }]],
    affected_row_count: 0,
    last_insert_rowid: null,
    replication_index: null,
    rows_read: 1,
    rows_written: 0,
    query_duration_ms: 0.01,
  },
};

interface Door {
  readonly name: string;
  readonly url: string;
  readonly path: string;
  /** Whatever it is where none is asked for. */
  readonly token: string;
}

/** Answers every request with the same row. */
function serveReadyMade(port: number): void {
  const answer = JSON.stringify(RESULT);
  Deno.serve({ port, hostname: "127.0.0.1", onListen() {} }, (request) => {
    if (request.headers.get("upgrade") === null) return new Response("ok");
    const { socket, response } = Deno.upgradeWebSocket(request, {
      protocol: request.headers.get("sec-websocket-protocol")?.split(",")[0]?.trim() ?? "",
    });
    socket.onmessage = ({ data }) => {
      const asked = JSON.parse(data);
      if (asked.type === "hello") return socket.send('{"type":"hello_ok"}');
      const { type } = asked.request;
      const body = type === "execute" ? answer : `{"type":"${type}"}`;
      socket.send(`{"type":"response_ok","request_id":${asked.request_id},"response":${body}}`);
    };
    return response;
  });
}

/** Calls a second of `connections` clients, each asking again when it is answered. */
async function byClient(
  { url, path, token }: Door,
  connections: number,
  seconds: number,
): Promise<number> {
  const clients = Array.from(
    { length: connections },
    () => createClient({ url: url.replace("http:", "ws:") + path, authToken: token }),
  );
  await Promise.all(clients.map((client) => client.execute({ sql: READ, args: [1] })));
  const startMs = performance.now();
  let count = 0;
  await Promise.all(clients.map(async (client) => {
    while (performance.now() - startMs < seconds * 1000) {
      await client.execute({ sql: READ, args: [77] });
      count++;
    }
  }));
  const perSecond = count / (performance.now() - startMs) * 1000;
  for (const client of clients) client.close();
  return perSecond;
}

async function bySocket(door: Door, connections: number, seconds: number): Promise<number> {
  return (await socketLoad({ ...door, statement: STATEMENT, connections, seconds })).perSecond;
}

/** `load <client|socket> <connections> <seconds> <door>` in a process of its own. */
async function loaded(how: string, connections: number, seconds: number, door: Door): Promise<number> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      import.meta.filename ?? "",
      "load",
      how,
      `${connections}`,
      `${seconds}`,
      JSON.stringify(door),
    ],
    stderr: "inherit",
  }).output();
  return Number(new TextDecoder().decode(stdout));
}

const optionOf = (name: string, unless: number) => {
  const at = Deno.args.indexOf(`--${name}`);
  return at < 0 ? unless : Number(Deno.args[at + 1]);
};

async function measure(): Promise<void> {
  const seconds = optionOf("seconds", 2);
  const nothing = await serverProcess({
    command: Deno.execPath(),
    args: (port) => ["run", "-A", import.meta.filename ?? "", "serve", `${port}`],
    healthPath: "/",
  });
  const service = await serviceTarget();
  const sqld = await sqldTarget();
  const query = service.query({ sql: READ, params: [77] });
  const [, namespace = "", database = ""] = /\/v1\/db\/([^/]+)\/([^/]+)\//.exec(query.path) ?? [];
  const token = /Bearer (\S+)/.exec(query.headers["authorization"] ?? "")?.[1] ?? "";
  const doors: Door[] = [
    { name: "computes nothing", url: nothing.url, path: "/", token: "none" },
    { name: "this service", url: service.url, path: `/hrana/${namespace}/${database}/`, token },
    ...(sqld ? [{ name: "sqld", url: sqld.url, path: "/", token: "none" }] : []),
  ];
  for (const { url, path, token } of doors.slice(1)) {
    const client = createClient({ url: url.replace("http:", "ws:") + path, authToken: token });
    for (const sql of FILL) await client.execute(sql);
    client.close();
  }
  for (const how of ["client", "socket"]) {
    for (const connections of [1, 32]) {
      const rates = new Map(doors.map(({ name }) => [name, [] as number[]]));
      for (let round = 0; round < optionOf("rounds", 3); round++) {
        for (const door of doors) rates.get(door.name)?.push(await loaded(how, connections, seconds, door));
      }
      const peer = median(rates.get("sqld") ?? []);
      for (const [name, all] of rates) {
        const rate = median(all);
        print(`${how}, ${connections}: ${name} ${rate.toFixed(0)}/s, ${(rate / peer).toFixed(2)} of sqld`);
      }
    }
  }
  await nothing.stop();
  await service.stop();
  await sqld?.stop();
}

const [first, ...rest] = Deno.args;
if (first === "serve") serveReadyMade(Number(rest[0]));
else if (first === "load") {
  const door: Door = JSON.parse(rest[3] ?? "");
  const by = rest[0] === "client" ? byClient : bySocket;
  print(String(await by(door, Number(rest[1]), Number(rest[2]))));
} else await measure();
