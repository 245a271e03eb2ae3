// `deno run -A tests/bench/snapshot_states.ts [seconds]`: snapshots of a database in which six clients move amounts between
// accounts all the time, each move one transaction. Every snapshot must be whole, and hold as much in sum as there was.
import { DatabaseSync } from "node:sqlite";
import { print } from "../testing/print.ts";
import { makeNamespace, startService } from "./service_target.ts";

const SECONDS = Number(Deno.args[0] ?? 40);
const WRITERS = 6;
const ACCOUNTS = 2000;
const EACH = 1000;
const FILL =
  "INSERT INTO account WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) " +
  "SELECT i, ?, randomblob(3000) FROM n";
// The bytes beside the amount make the log long, so that it is folded in and begins again many times.
const MOVE = "UPDATE account SET amount = amount + ?, more = randomblob(3000) WHERE id = ?";

const folder = await Deno.makeTempDir({ prefix: "bench_states_" });
const service = await startService(folder);
const token = await makeNamespace(service);
await post("query", { sql: "CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER, more BLOB)" });
await post("query", { sql: FILL, params: [ACCOUNTS, EACH] });
const endMs = performance.now() + SECONDS * 1000;
const counts = { moves: 0, snapshots: 0, wrong: 0 };
const seen = new Set<string>();
await Promise.all([...Array.from({ length: WRITERS }, write), takeAndCheck()]);
print(`${counts.moves} moves, ${counts.snapshots} snapshots, of which ${counts.wrong} were wrong`);
await service.stop();
await Deno.remove(folder, { recursive: true });
Deno.exit(counts.wrong === 0 && counts.snapshots > 0 ? 0 : 1);

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${service.url}/v1/db/bench/main/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`);
}

function anyAccount(): number {
  return 1 + Math.floor(Math.random() * ACCOUNTS);
}

async function write(): Promise<void> {
  while (performance.now() < endMs) {
    const [from, to, amount] = [anyAccount(), anyAccount(), Math.floor(Math.random() * 50)];
    const statements = [{ sql: MOVE, params: [-amount, from] }, { sql: MOVE, params: [amount, to] }];
    await post("batch", { statements, transaction: true });
    counts.moves++;
  }
}

async function takeAndCheck(): Promise<void> {
  while (performance.now() < endMs) {
    await post("snapshots", { label: `state-${counts.snapshots}` });
    for await (const path of files(folder)) {
      if (!/\.snapshots\/[^/]*state-\d+\.db$/.test(path) || seen.has(path)) continue;
      seen.add(path);
      counts.snapshots++;
      if (!await isRight(path)) counts.wrong++;
    }
  }
}

/** Looks at copies: to open a file is to change what stands beside it. */
async function isRight(path: string): Promise<boolean> {
  const copies = await Deno.makeTempDir({ prefix: "bench_state_" });
  for (const end of ["", "-wal"]) {
    await Deno.copyFile(path + end, `${copies}/state.db${end}`).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
  using database = new DatabaseSync(`${copies}/state.db`);
  const held = database.prepare("SELECT sum(amount) AS sum, count(*) AS count FROM account").get();
  const check = database.prepare("PRAGMA integrity_check").get();
  await Deno.remove(copies, { recursive: true });
  return held?.["sum"] === ACCOUNTS * EACH && held["count"] === ACCOUNTS &&
    check?.["integrity_check"] === "ok";
}

async function* files(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* files(`${folder}/${name}`);
    else yield `${folder}/${name}`;
  }
}
