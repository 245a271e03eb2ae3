// How many sign-ups and log-ins a second the service takes, beside what the cores could hash, and what that does to
// others: a part of published_bench.ts.
import { print } from "../testing/print.ts";
import { fillTables, otherPointReads } from "./bench_cases.ts";
import { type BenchRequest, sendOnce } from "./bench_target.ts";
import type { Load, LoadResult } from "./load.ts";
import { processCpuSeconds } from "./process_cpu.ts";
import { publish } from "./publish.ts";
import type { ServiceTarget } from "./service_target.ts";

const GOAL_RATE = 0.8;
const GOAL_P99 = 2;
/** More than hash at once, so that the hashing threads never wait for the next request. */
const CONNECTIONS = 2 * navigator.hardwareConcurrency;
/** Of others: a load that the machine carries easily. */
const OTHER = { connections: 8, pauseMs: 40 };
const ACCOUNTS = 40;
const HASHES = 20;
const JSON_TYPE = { "content-type": "application/json" };

export async function measureHashing(service: ServiceTarget, load: Load, seconds: number): Promise<void> {
  await fillTables(service, service.other);
  await makeEndpoints(service);
  const hash = await oneHash();
  const ceiling = navigator.hardwareConcurrency / hash.seconds;
  print(
    `the cores could hash ${ceiling.toFixed(0)}/s, at ${milliseconds(hash.cpuSeconds)} ms of processor each`,
  );
  const others = { url: service.url, requests: otherPointReads(service.other), ...OTHER, seconds };
  const calm = await load(others);
  print(`others, calm: p50 ${calm.p50Ms.toFixed(1)} ms, p99 ${calm.p99Ms.toFixed(1)} ms`);
  const signups = Array.from(
    { length: 1 + Math.ceil(ceiling * seconds * 4) },
    (_, at) => call("join", `new${at}@shop.example`),
  );
  const logins = Array.from({ length: ACCOUNTS }, (_, at) => call("log-in", `known${at}@shop.example`));
  for (const { body } of logins) await sendOnce(service, { ...call("join", ""), body });
  for (const [name, requests] of [["sign-up", signups], ["log-in", logins]] as const) {
    const order = { url: service.url, requests, connections: CONNECTIONS, seconds };
    const before = processCpuSeconds(service.pid) ?? NaN;
    const alone = await load(order);
    const cpuSeconds = ((processCpuSeconds(service.pid) ?? NaN) - before) / (alone.perSecond * seconds);
    const [, disturbed] = await Promise.all([load(shifted(order, alone)), load(others)]);
    report(name, alone, ceiling);
    print(
      `${name}: ${milliseconds(cpuSeconds)} ms of processor, ` +
        `${(hash.cpuSeconds / cpuSeconds).toFixed(2)} of it the hash alone`,
    );
    const ratio = disturbed.p99Ms / calm.p99Ms;
    print(
      `others beside ${name}: p50 ${disturbed.p50Ms.toFixed(1)} ms, p99 ${disturbed.p99Ms.toFixed(1)} ms, ` +
        `×${ratio.toFixed(1)} (goal ${GOAL_P99} ${ratio <= GOAL_P99 ? "✓" : "✗"})`,
    );
  }
}

/** Of sign-ups those that were not sent before: an address signs up once. */
function shifted<Order extends { readonly requests: readonly BenchRequest[]; readonly seconds: number }>(
  order: Order,
  { perSecond }: LoadResult,
): Order {
  const sent = Math.ceil(perSecond * (order.seconds + 1)) + 2 * CONNECTIONS;
  return order.requests.length > 2 * sent ? { ...order, requests: order.requests.slice(sent) } : order;
}

function report(name: string, { perSecond, p50Ms, errors }: LoadResult, ceiling: number): void {
  if (errors > 0) throw new Error(`${errors} calls of ${name} failed`);
  const share = perSecond / ceiling;
  print(
    `${name}: ${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(0)} ms, ${
      share.toFixed(2)
    } of what the cores could hash ` +
      `(goal ${GOAL_RATE} ${share >= GOAL_RATE ? "✓" : "✗"})`,
  );
}

function call(slug: string, email: string): BenchRequest {
  const body = JSON.stringify({ email, password: "correct horse battery" });
  return { path: `/p/bench/main/${slug}`, headers: JSON_TYPE, body };
}

async function makeEndpoints(service: ServiceTarget): Promise<void> {
  const table = "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)";
  await sendOnce(service, service.query({ sql: table, params: [] }));
  const shared = {
    ...{ method: "POST", output: "session" },
    input: [{ name: "email", type: "email", required: true }, {
      name: "password",
      type: "text",
      required: true,
    }],
    authConfig: { usersTable: "users", passwordColumn: "password_hash" },
  };
  await publish(service, {
    ...{ ...shared, slug: "join", name: "Join", kind: "auth_signup" },
    sql: "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id",
  });
  await publish(service, {
    ...{ ...shared, slug: "log-in", name: "Log in", kind: "auth_login" },
    sql: "SELECT id, password_hash FROM users WHERE email = ?",
  });
}

function milliseconds(seconds: number): string {
  return (seconds * 1000).toFixed(1);
}

/** One hash as the specification wants it, alone on the machine: the shortest of several, and its processor time. */
async function oneHash(): Promise<{ readonly seconds: number; readonly cpuSeconds: number }> {
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode("correct horse battery"),
    "PBKDF2",
    false,
    [
      "deriveBits",
    ],
  );
  const parameters = { name: "PBKDF2", hash: "SHA-256", salt: new Uint8Array(16), iterations: 210_000 };
  const times: number[] = [];
  const before = processCpuSeconds(Deno.pid) ?? NaN;
  for (let run = 0; run < HASHES; run++) {
    const startedMs = performance.now();
    await crypto.subtle.deriveBits(parameters, key, 256);
    times.push((performance.now() - startedMs) / 1000);
  }
  const cpuSeconds = ((processCpuSeconds(Deno.pid) ?? NaN) - before) / HASHES;
  return { seconds: Math.min(...times), cpuSeconds };
}
