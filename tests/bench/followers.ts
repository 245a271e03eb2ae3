// `deno run -A tests/bench/followers.ts [followers]`: how long after a write's answer was asked for its change arrives at each
// of 1,000 streams of one database, and what the streams take. The load runs beside the service on the same machine.
import { pause } from "../../lib/core/pause.ts";
import { startService } from "../testing/start_service.ts";
import { print } from "../testing/print.ts";

const FOLLOWERS = Number(Deno.args[0] ?? 1000);
const WRITES = 200;
/** Milliseconds between two writes. */
const EVERY_MS = 100;

const folder = await Deno.makeTempDir({ prefix: "bench_followers_" });
const service = await startService({ folder });
const token = /cub_live_\w+/.exec(service.output())?.[0] ?? "";
const database = `${service.url}/v1/db/demo/demo`;
const authorization = `Bearer ${token}`;

await query("CREATE TABLE bench (id INTEGER PRIMARY KEY, at REAL)");
const before = await memoryMb();
const late: number[] = [];
const sentAt = new Map<number, number>();
for (let at = 0; at < FOLLOWERS; at++) {
  const connected = Promise.withResolvers<void>();
  void follow(connected.resolve);
  if (at % 50 === 49) await connected.promise;
}
await pause(1000);
const connectedMb = await memoryMb();
for (let write = 0; write < WRITES; write++) {
  const nextMs = performance.now() + EVERY_MS;
  sentAt.set(write + 1, performance.now());
  await query(`INSERT INTO bench VALUES (${write + 1}, 0)`);
  await pause(Math.max(0, nextMs - performance.now()));
}
await pause(2000);
late.sort((a, b) => a - b);
const share = (part: number) => (late[Math.floor(late.length * part)] ?? NaN).toFixed(1);
print(`${FOLLOWERS} followers, ${WRITES} writes, ${late.length} deliveries of ${FOLLOWERS * WRITES}`);
print(`delivery p50 ${share(0.5)} ms, p99 ${share(0.99)} ms, most ${share(0.9999)} ms`);
print(`resident: ${before} MB before, ${connectedMb} MB with followers, ${await memoryMb()} MB after`);
await service.stop();
await Deno.remove(folder, { recursive: true });

/**
 * A client of few instructions, so that it is the service that is measured. The table's first change is its own; each write
 * after it is one change.
 */
async function follow(connected: () => void): Promise<void> {
  const { hostname, port, pathname } = new URL(database);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head = `GET ${pathname}/changes?since=now HTTP/1.1\r\nhost: ${hostname}\r\n` +
    `authorization: ${authorization}\r\naccept: text/event-stream\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head));
  const buffer = new Uint8Array(4096);
  const decoder = new TextDecoder("latin1");
  let first: number | null = null;
  for (let read = await connection.read(buffer); read !== null; read = await connection.read(buffer)) {
    const nowMs = performance.now();
    connected();
    for (const [, seq] of decoder.decode(buffer.subarray(0, read)).matchAll(/^id: \d+-(\d+)$/gm)) {
      first ??= Number(seq) - 1;
      const sent = sentAt.get(Number(seq) - first);
      if (sent !== undefined) late.push(nowMs - sent);
    }
  }
}

async function query(sql: string): Promise<void> {
  const body = JSON.stringify({ sql });
  const answer = await fetch(`${database}/query`, { method: "POST", headers: { authorization }, body });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.body?.cancel();
}

async function memoryMb(): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${service.pid}/status`);
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
