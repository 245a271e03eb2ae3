// `deno run -A --v8-flags=--heap-growing-percent=40,--max-semi-space-size=16,--no-allocation-site-pretenuring tests/bench/log_rows.ts [--over
// 30,2000,10000]`: what the service does for log rows of reads, from the row's values to the spool's bytes and the packs
// that wait in memory, then to packs that are on the disk alone and back, as processor time of the thread for a row. Rows
// come at random over databases, 2,000 of them in each look of the flusher. Linux only.
import { print } from "../testing/print.ts";
import { silentLog } from "../../lib/core/log.ts";
import { LogBudget } from "../../lib/tenant/log/log_budget.ts";
import { LogBuffer } from "../../lib/tenant/log/log_buffer.ts";
import { logRow } from "../../lib/tenant/log_columns.ts";
import { PackFile } from "../../lib/tenant/local/log/pack_file.ts";
import { spoolLines } from "../../lib/tenant/local/log/spool_lines.ts";
import { readManyOptions } from "./many_options.ts";
import { threadCpuSeconds } from "./process_cpu.ts";

const ROWS = 300_000;
/** Before the clock starts: the code is compiled, and each database has a pack. */
const WARM_UP_ROWS = 100_000;
const ROWS_A_LOOK = 2000;
/** Databases whose rows go into the spool at once, as the flusher does it. */
const AT_ONCE = 100;

const encoder = new TextEncoder();
for (const over of readManyOptions(Deno.args).over) measure(over);

function measure(over: number): void {
  const budget = new LogBudget();
  const noted = new Set<number>();
  const databases = Array.from({ length: over }, (_, at) => ({
    databaseId: `db_${String(at).padStart(26, "0")}`,
    log: new LogBuffer(1 << 26, budget, () => {}, () => noted.add(at)),
  }));
  let [beforeSeconds, bytes] = [0, 0];
  for (let at = 0; at < ROWS + WARM_UP_ROWS; at++) {
    if (at === WARM_UP_ROWS) [beforeSeconds, bytes] = [threadCpuSeconds(), 0];
    const database = databases[Math.floor(Math.random() * over)];
    database?.log.add(rowOf(at, database.databaseId));
    if (at % ROWS_A_LOOK < ROWS_A_LOOK - 1) continue;
    const some = [...noted].flatMap((index) => databases[index] ?? []);
    noted.clear();
    for (let from = 0; from < some.length; from += AT_ONCE) {
      const part = some.slice(from, from + AT_ONCE);
      const entries = part.map(({ databaseId, log }) => ({
        databaseId,
        namespaceId: "ns_1",
        rows: log.unspooled,
      }));
      bytes += encoder.encode(spoolLines(entries)).length;
      for (const { log } of part) log.noteSpooled(1);
    }
  }
  const us = (threadCpuSeconds() - beforeSeconds) / ROWS * 1e6;
  const memoryOf = () =>
    ((budget.fullness * 64 + budget.storedFullness * 48) * 1024 * 1024 / (ROWS + WARM_UP_ROWS)).toFixed(0);
  const inMemory = memoryOf();
  const usAll = (work: () => void) => {
    const before = threadCpuSeconds();
    work();
    return ((threadCpuSeconds() - before) / (ROWS + WARM_UP_ROWS) * 1e6).toFixed(2);
  };
  const path = Deno.makeTempFileSync();
  Deno.removeSync(path);
  const file = PackFile.create(path, 1, silentLog);
  const toDisk = usAll(() => {
    for (const { databaseId, log } of databases) {
      log.storePacks(Infinity, (pack) => file.store(databaseId, "ns_1", pack));
    }
  });
  const onDisk = memoryOf();
  const back = usAll(() => {
    for (const { log } of databases) while (log.take(256).length > 0);
  });
  file.close();
  Deno.removeSync(path);
  print(
    `over ${String(over).padStart(6)} databases: ${us.toFixed(2)} µs a row, ${
      (bytes / ROWS).toFixed(0)
    } bytes of the spool, ${inMemory} of memory; to the disk ${toDisk} µs, then ${onDisk} of memory; back ${back} µs`,
  );
}

function rowOf(at: number, databaseId: string): ReturnType<typeof logRow> {
  return logRow({
    ...{ id: `qry_${String(at).padStart(26, "0")}`, ts: 1_790_000_000_000 + (at >> 4) },
    ...{ namespaceId: "ns_1", databaseId, tokenId: "tok_1", userId: null, operation: "query" },
    ...{ status: "ok", errorKind: null, rowsRead: 1, rowsWritten: 0 },
    ...{ durationMs: Math.round(Math.random() * 30) / 1000, statementCount: 1 },
    sql: "SELECT id, name, price, stock FROM items WHERE id = ?",
  });
}
