// How fast exports and imports are, and what they hold in memory: `deno run -A tests/bench/transfer_time.ts [rows]`.
import { print } from "../testing/print.ts";
import { startApp } from "../testing/start_app.ts";

/** Rows of six columns, about 120 bytes each as SQL. */
const ROWS = Number(Deno.args[0] ?? 1_000_000);
const AT_ONCE = 250_000;

await using app = await startApp({ settings: { WELCOME_CREDIT_USD: "1000" } });
const acme = await app.namespace();
const authorization = { authorization: `Bearer ${acme.token}` };
await acme.setup(
  "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, email TEXT, price REAL, qty INT, note TEXT)",
);
for (let first = 0; first < ROWS; first += AT_ONCE) {
  await acme.setup(
    `INSERT INTO t WITH RECURSIVE n (i) AS (SELECT ${first + 1} UNION ALL SELECT i + 1 FROM n WHERE i < ${
      Math.min(ROWS, first + AT_ONCE)
    }) SELECT i, 'name ' || i, 'user' || i || '@example.com', i * 1.1, i % 97, 'some note about the thing ' || i FROM n`,
  );
}
const folder = await Deno.makeTempDir({ prefix: "cubby_transfer_" });

/** The most that this process and its children have held while the work ran. */
async function watched(name: string, work: () => Promise<number>): Promise<void> {
  const peaks = new Map<string, number>();
  const look = () => {
    for (const { name: pid } of Deno.readDirSync("/proc")) {
      if (!/^\d+$/.test(pid)) continue;
      try {
        const line = Deno.readTextFileSync(`/proc/${pid}/cmdline`);
        const kind = Number(pid) === Deno.pid
          ? "service"
          : /transfer\/child\/main\.ts/.test(line)
          ? "children"
          : null;
        if (kind === null || !/^deno|\/deno/.test(line)) continue;
        const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`)) ?? [];
        peaks.set(kind, Math.max(peaks.get(kind) ?? 0, Number(kib)));
      } catch {
        // It has ended.
      }
    }
  };
  const timer = setInterval(look, 50);
  const startedMs = performance.now();
  const bytes = await work();
  const ms = performance.now() - startedMs;
  clearInterval(timer);
  const mb = (kib = 0) => `${Math.round(kib / 1024)} MB`;
  print(
    `${name.padEnd(14)} ${Math.round(ROWS / ms * 1000)} rows/s, ${(bytes / ms / 1000).toFixed(1)} MB/s, ` +
      `${Math.round(bytes / 1e6)} MB; at most ${mb(peaks.get("service"))} in the service, ${
        mb(peaks.get("children"))
      } in a child`,
  );
}

for (const format of ["sql", "sqlite", "csv", "ndjson"]) {
  const table = format === "csv" || format === "ndjson" ? "&table=t" : "";
  await watched(`export ${format}`, async () => {
    const answer = await app.app.request(`${acme.database.path}/export?format=${format}${table}`, {
      headers: authorization,
    });
    if (answer.body === null || !answer.ok) throw new Error(await answer.text());
    await Deno.writeFile(`${folder}/${format}`, answer.body);
    return (await Deno.stat(`${folder}/${format}`)).size;
  });
}
for (const format of ["sql", "sqlite", "csv"]) {
  const { path } = await acme.createDatabase(`from-${format}`);
  const query = format === "csv" ? "mode=append&table=t" : "mode=create";
  if (format === "csv") {
    const sql =
      "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, email TEXT, price REAL, qty INT, note TEXT)";
    await app.request("POST", `${path}/query`, { token: acme.token, body: { sql } });
  }
  await watched(`import ${format}`, async () => {
    const file = await Deno.open(`${folder}/${format}`);
    const size = (await file.stat()).size;
    const answer = await app.request("POST", `${path}/import?format=${format}&${query}`, {
      token: acme.token,
      body: file.readable,
    });
    if (answer.status !== 200) throw new Error(answer.text);
    return size;
  });
}
await Deno.remove(folder, { recursive: true });
