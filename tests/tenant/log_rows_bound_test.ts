// What waits while a disk is full: bounded in memory, and nothing of it is counted twice.
import { assert, assertEquals } from "@std/assert";
import { Progress } from "../../lib/tenant/local/child/progress.ts";
import {
  PROGRESS_FILE_BYTES,
  PROGRESS_RECORD_BYTES,
  PROGRESS_SET_AT,
} from "../../lib/tenant/local/child/protocol.ts";
import { lastRecord } from "../../lib/tenant/local/pool/progress_files.ts";
import { LogBudget } from "../../lib/tenant/log/log_budget.ts";
import { LogBuffer } from "../../lib/tenant/log/log_buffer.ts";

Deno.test("log rows of all databases together stay within one bound of memory, and what is written makes room", () => {
  const budget = new LogBudget(10_000);
  const [one, other] = [new LogBuffer(1_000_000, budget), new LogBuffer(1_000_000, budget)];
  const row = ["qry_1", 0, ..."x".repeat(11), "x".repeat(684)];
  for (let n = 0; n < 50; n++) (n % 2 === 0 ? one : other).add(row);
  assertEquals([one.length, other.length], [5, 5]);
  const taken = one.take(128);
  other.add(row);
  // Of what comes back there is room for all but one.
  one.putBack(taken);
  assertEquals([one.length, other.length], [4, 6]);
  const written = other.take(2);
  other.end();
  // What comes while its database is deleted takes no room from the others.
  other.add(row);
  other.putBack(written);
  for (let n = 0; n < 50; n++) one.add(row);
  assertEquals([one.length, other.length], [10, 0]);
});

Deno.test("a table whose rows are only taken and written stays within the bound of its log, however long that goes on", () => {
  const buffer = new LogBuffer(400_000);
  let table: string[] = [];
  for (let at = 0; at < 20_000; at++) {
    buffer.add([`qry_${String(at).padStart(26, "0")}`, at, ..."x".repeat(11), "SELECT 1"]);
    if (at % 100 !== 0) continue;
    table.push(...buffer.take(500).map(([id]) => String(id)));
    // As the store on a server does it, which deletes in the same transaction.
    const { cuts } = buffer;
    buffer.noteDeleted(cuts);
    const [cut] = cuts;
    if (cut !== null) table = table.filter((id) => id >= cut);
    assert(table.length < 1200, `${table.length} rows after ${at}`);
  }
});

Deno.test("a progress file never grows, and its last record is the statement that runs", async () => {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, new Uint8Array(PROGRESS_FILE_BYTES));
    using file = await Deno.open(path, { write: true });
    let running = 0;
    const progress = new Progress(file, { startSet: (set) => running = set });
    for (const statements of [3, Math.ceil(PROGRESS_FILE_BYTES / PROGRESS_RECORD_BYTES), 2000, 1]) {
      progress.startFrame(statements);
      for (let at = 0; at < statements; at++) progress.startStatement(7, at);
      const bytes = await Deno.readFile(path);
      assertEquals(bytes.length, PROGRESS_FILE_BYTES);
      assertEquals(lastRecord(bytes, statements), { call: 7, statement: statements - 1 });
      assertEquals(lastRecord(bytes, statements + 1), null);
      progress.startSets(8);
      progress.startSet(4711);
      const ofSets = await Deno.readFile(path);
      // As the reporting thread does it.
      new DataView(ofSets.buffer).setUint32(PROGRESS_SET_AT, running);
      assertEquals(lastRecord(ofSets, statements), { call: 8, statement: 4711 });
    }
  } finally {
    await Deno.remove(path);
  }
});
