// How fast exports and imports are, and what service and children hold in memory at most. `deno run -A tests/bench/transfer_time.ts
// FOLDER ROWS NOTE_BYTES fill` makes the data in a folder of its own; with other names of steps behind it (`sql`, `sqlite`, `csv`,
// `ndjson`, `import-sql`, `import-sqlite`, `import-csv`) those are measured, each by a service that has just started.
import { print } from "../testing/print.ts";
import { startService } from "../testing/start_service.ts";

const [folder = "", rowsText = "1000000", bytesText = "40", ...steps] = Deno.args;
const ROWS = Number(rowsText);
/** Characters of one column; the five others take about 80 bytes as SQL. */
const NOTE_BYTES = Number(bytesText);
const AT_ONCE = Math.max(1, Math.floor(40_000_000 / (NOTE_BYTES + 80)));
const KEY = "operator-key-of-this-bench";
const TABLE =
  "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, email TEXT, price REAL, qty INT, note TEXT)";

await Deno.mkdir(`${folder}/data`, { recursive: true });
for (const step of steps) {
  const service = await startService({
    folder: `${folder}/data`,
    settings: { OPERATOR_KEY: KEY, DEMO: "0", WELCOME_CREDIT_USD: "1000", TENANTS_URL: "file:" },
  });
  try {
    if (step === "fill") await fill(service.url);
    else {await measured(step, service, () =>
        step.startsWith("import-") ? bringIn(step, service.url) : take(step, service.url));}
  } finally {
    await service.stop();
  }
}

async function fill(url: string): Promise<void> {
  await call(url, "/api/namespaces", { slug: "acme" });
  await call(url, "/api/namespaces/acme/databases", { slug: "main" });
  const made = await call(url, "/api/namespaces/acme/tokens", { name: "bench", role: "admin" });
  await Deno.writeTextFile(`${folder}/token`, JSON.parse(made).data.token);
  await query(url, "main", TABLE);
  for (let first = 0; first < ROWS; first += AT_ONCE) {
    const last = Math.min(ROWS, first + AT_ONCE);
    await query(
      url,
      "main",
      `INSERT INTO t WITH RECURSIVE n (i) AS (SELECT ${
        first + 1
      } UNION ALL SELECT i + 1 FROM n WHERE i < ${last}) ` +
        `SELECT i, 'name ' || i, 'user' || i || '@example.com', i * 1.1, i % 97, ` +
        `substr('some note about the thing ' || i || hex(zeroblob(${
          NOTE_BYTES >> 1
        })), 1, ${NOTE_BYTES}) FROM n`,
    );
  }
}

async function take(format: string, url: string): Promise<number> {
  const table = format === "csv" || format === "ndjson" ? "&table=t" : "";
  const answer = await fetch(`${url}/v1/db/acme/main/export?format=${format}${table}`, {
    headers: headers(),
  });
  if (answer.body === null || !answer.ok) throw new Error(await answer.text());
  await Deno.writeFile(`${folder}/out.${format}`, answer.body);
  return (await Deno.stat(`${folder}/out.${format}`)).size;
}

async function bringIn(step: string, url: string): Promise<number> {
  const format = step.slice("import-".length);
  const slug = `in-${crypto.randomUUID().slice(0, 8)}`;
  await call(url, "/api/namespaces/acme/databases", { slug });
  if (format === "csv") await query(url, slug, TABLE);
  const mode = format === "csv" ? "append&table=t" : "create";
  const file = `${folder}/out.${format}`;
  // The runtime's own `fetch` sends a stream at some 5 MB/s.
  const { success, stdout } = await new Deno.Command("curl", {
    args: [
      ...["-sf", "-X", "POST", "-H", `authorization: ${headers()["authorization"]}`, "-H", "expect:"],
      ...["-T", file, `${url}/v1/db/acme/${slug}/import?format=${format}&mode=${mode}`],
    ],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stdout));
  const { size } = await Deno.stat(file);
  await fetch(`${url}/api/namespaces/acme/databases/${slug}`, { method: "DELETE", headers: headers() }).then((
    { body },
  ) => body?.cancel());
  return size;
}

/** The most that the service and any of its children have held so far, in MB, as the system counts it. */
async function measured(
  name: string,
  { pid }: { readonly pid: number },
  work: () => Promise<number>,
): Promise<void> {
  let child = 0;
  const timer = setInterval(() => {
    for (const own of childrenOf(pid)) child = Math.max(child, peakMb(own));
  }, 50);
  const startedMs = performance.now();
  const bytes = await work();
  const ms = performance.now() - startedMs;
  clearInterval(timer);
  print(
    `${name.padEnd(14)} ${Math.round(ROWS / ms * 1000)} rows/s, ${(bytes / ms / 1000).toFixed(1)} MB/s, ` +
      `${Math.round(bytes / 1e6)} MB in ${(ms / 1000).toFixed(1)} s; at most ${
        peakMb(pid)
      } MB in the service, ${child} MB in a child`,
  );
}

function childrenOf(pid: number): number[] {
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`);
    return text.split(" ").filter((one) => one !== "").map(Number);
  } catch {
    return [];
  }
}

function peakMb(pid: number): number {
  try {
    const [, kib = "0"] = /VmHWM:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`)) ?? [];
    return Math.round(Number(kib) / 1024);
  } catch {
    return 0;
  }
}

/** By the operator, until the first token is made. */
function headers(): Record<string, string> {
  let bearer = KEY;
  try {
    bearer = Deno.readTextFileSync(`${folder}/token`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return { authorization: `Bearer ${bearer}` };
}

async function query(url: string, database: string, sql: string): Promise<void> {
  await call(url, `/v1/db/acme/${database}/query`, { sql });
}

async function call(url: string, path: string, body: object): Promise<string> {
  const answer = await fetch(url + path, { method: "POST", headers: headers(), body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
