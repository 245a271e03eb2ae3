// Log rows that wait in little memory are those that were added, once each, whatever happens to them on the way.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { newId } from "../../lib/core/ids.ts";
import { silentLog } from "../../lib/core/log.ts";
import { ENDPOINT_CALL_COLUMNS, LOG_COLUMNS } from "../../lib/tenant/log_columns.ts";
import { LogBudget } from "../../lib/tenant/log/log_budget.ts";
import { LogBuffer } from "../../lib/tenant/log/log_buffer.ts";
import type { LogValues } from "../../lib/tenant/log_columns.ts";
import { PackFile } from "../../lib/tenant/local/log/pack_file.ts";
import type { NeededFiles } from "../../lib/tenant/log/needed_files.ts";
import { RowPack } from "../../lib/tenant/log/packed_rows.ts";
import { StoredPack } from "../../lib/tenant/log/stored_pack.ts";
import { TextBlocks } from "../../lib/tenant/log/text_blocks.ts";

const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("ok", "query", null, 0, 1) },
  fc.string({ unit: "binary", maxLength: 4 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one === 0 ? 0 : one),
);
const widths = [LOG_COLUMNS, ENDPOINT_CALL_COLUMNS];
const row: fc.Arbitrary<LogValues> = fc.constantFrom(...widths).chain((width) =>
  fc.array(value, { minLength: width, maxLength: width })
);

Deno.test("rows of both kinds come out of their packs as they went in", () => {
  fc.assert(
    fc.property(fc.array(fc.array(row, { maxLength: 80 }), { maxLength: 5 }), (lots) => {
      const blocks = new TextBlocks();
      const packs: RowPack[] = [];
      for (const rows of lots) addTo(packs, rows, blocks);
      assertEquals(rowsOf(packs), lots.flat());
    }),
    { numRuns: 300 },
  );
});

Deno.test("memory of a pack that was given back is used again, and that of others stays as it is", () => {
  const rows = fc.record({
    count: fc.integer({ min: 30, max: 80 }),
    text: fc.string({ unit: "binary", maxLength: 60 }),
  });
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 40 }), fc.infiniteStream(fc.nat({ max: 3 })), (lots, chosen) => {
      const blocks = new TextBlocks();
      const held: { readonly packs: readonly RowPack[]; readonly rows: readonly LogValues[] }[] = [];
      for (const [lot, { count, text }] of lots.entries()) {
        const rows = Array.from(
          { length: count },
          (_, at): LogValues => [...logRow(lot * 80 + at), `${text}${at}`],
        );
        const packs: RowPack[] = [];
        addTo(packs, rows, blocks);
        held.push({ packs, rows });
        const [given] = held.splice(chosen.next().value ?? 0, 1);
        for (const pack of given?.packs ?? []) pack.giveBack(blocks);
        for (const { packs, rows } of held) assertEquals(rowsOf(packs), rows);
      }
    }),
    { numRuns: 100 },
  );
  const blocks = new TextBlocks();
  const { block } = blocks.write("é".repeat(700));
  blocks.giveBack(block);
  assert(blocks.write("x".repeat(block.length)).block === block, "a block that was given back is not used");
});

Deno.test("of blocks that were given back a megabyte is kept, and none that is large", () => {
  const blocks = new TextBlocks();
  const writeAll = (length: number) =>
    Array.from({ length: 256 }, () => blocks.write("x".repeat(length)).block);
  for (const length of [16_384, 131_072]) {
    const first = writeAll(length);
    for (const block of first) blocks.giveBack(block);
    const kept = new Set(first);
    const again = writeAll(length).filter((block) => kept.has(block));
    assertEquals(again.length * length, length === 16_384 ? 1024 * 1024 : 0);
  }
});

Deno.test("rows that differ in their time and their id take a fraction of their memory, and 64 are a pack", () => {
  const rows = Array.from({ length: 600 }, (_, at): LogValues => logRow(at));
  const packs: RowPack[] = [];
  addTo(packs, rows, new TextBlocks());
  assertEquals(packs.map(({ count }) => count), [...Array.from({ length: 9 }, () => 64), 24]);
  const bytes = packs.reduce((sum, pack) => sum + pack.bytes, 0) / rows.length;
  assert(bytes < 60, `${bytes} bytes a row`);
});

Deno.test("a long text that many rows share is not repeated for each of them when one has another", () => {
  const long = `SELECT '${"x".repeat(10_000)}'`;
  const rows = Array.from(
    { length: 40 },
    (_, at): LogValues => [...logRow(at).slice(0, -1), at === 30 ? "SELECT 2" : long],
  );
  const packs: RowPack[] = [];
  for (const row of rows) addTo(packs, [row], new TextBlocks());
  assertEquals(rowsOf(packs), rows);
  const bytes = packs.reduce((sum, pack) => sum + pack.bytes, 0);
  assert(bytes < 15 * long.length, `${bytes} bytes`);
});

Deno.test("rows of a database that come one by one take no more memory than twice that of many at once", () => {
  const bytesOf = (atOnce: number): number => {
    const budget = new LogBudget(1 << 20);
    const buffer = new LogBuffer(1 << 30, budget);
    for (let at = 0; at < 960; at++) {
      buffer.add(logRow(at));
      if (at % atOnce === atOnce - 1) buffer.noteSpooled(1);
    }
    return budget.fullness;
  };
  const [single, many] = [bytesOf(1), bytesOf(64)];
  assert(many > 0 && single < 2 * many, `${single} of the room, ${many} where 64 come at once`);
});

const DATABASE = newId("db", 1);

/** Makes files of packs, which are gone at the end of a test. */
async function packFiles() {
  const folder = await Deno.makeTempDir({ prefix: "cubby_packs_" });
  const files: PackFile[] = [];
  return {
    create(number: number): PackFile {
      const file = PackFile.create(`${folder}/${files.length}`, number, silentLog);
      files.push(file);
      return file;
    },
    /** The last one, as the next process finds it. */
    reopen(): PackFile {
      const file = PackFile.open(`${folder}/${files.length - 1}`, files.length, silentLog);
      files.push(file);
      return file;
    },
    async [Symbol.asyncDispose]() {
      for (const file of files) file.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("rows that are on the disk alone take nothing of the memory for those that wait in it", async () => {
  await using packs = await packFiles();
  const budget = new LogBudget();
  const buffer = new LogBuffer(1 << 30, budget);
  for (let at = 0; at < 960; at++) buffer.add(logRow(at));
  buffer.noteSpooled(1);
  const before = budget.fullness;
  const file = packs.create(2);
  assertEquals(buffer.storePacks(Infinity, (pack) => file.store(DATABASE, "ns_1", pack)), 15);
  assertEquals(budget.fullness, 0);
  assert(budget.storedFullness > 0 && budget.storedFullness < before / 10, `${budget.storedFullness}`);
});

Deno.test("rows that a killed process has left in lines and in packs count once for the bound of their log", async () => {
  await using packs = await packFiles();
  const rows = Array.from({ length: 500 }, (_, at): LogValues => logRow(at));
  const before = new LogBuffer(1 << 30);
  for (const row of rows) before.add(row);
  before.noteSpooled(1);
  const file = packs.create(2);
  before.storePacks(Infinity, (pack) => file.store(DATABASE, "ns_1", pack));
  // Room for some 700 rows.
  const buffer = new LogBuffer(400_000);
  buffer.adopt({ rows, packs: [], file: 1 });
  buffer.adopt({ rows: [], packs: [...packs.reopen().packs()].map(({ pack }) => pack), file: 2 });
  const found = new Set(buffer.take(2000).map(([id]) => id));
  assertEquals(rows.filter(([id]) => !found.has(id ?? null)), []);
});

type Step =
  | { readonly do: "add"; readonly count: number }
  | { readonly do: "spool" }
  | { readonly do: "left" }
  | { readonly do: "move"; readonly most: number }
  | { readonly do: "store"; readonly most: number }
  | { readonly do: "take"; readonly most: number; readonly ends: "written" | "back" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    count: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 3 })),
  }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant("spool" as const) }) },
  fc.record({ do: fc.constant("left" as const) }),
  fc.record({ do: fc.constant("move" as const), most: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ do: fc.constant("store" as const), most: fc.integer({ min: 1, max: 5 }) }),
  fc.record({
    do: fc.constant("take" as const),
    most: fc.integer({ min: 1, max: 300 }),
    ends: fc.constantFrom("written" as const, "back" as const),
  }),
);

Deno.test("the rows of a database that is deleted are read no more", () => {
  const budget = new LogBudget();
  const buffer = new LogBuffer(1 << 26, budget);
  let reads = 0;
  const rows = (): LogValues[] => {
    reads++;
    return [];
  };
  const head = { width: 14, count: 64, lastId: "qry_1", valueBytes: 5000 };
  buffer.adopt({ rows: [], packs: [new StoredPack(head, { number: 1, rows }, 0, 5000)], file: 1 });
  assertEquals(buffer.length, 64);
  buffer.end();
  assertEquals([buffer.length, budget.storedFullness, reads], [0, 0, 0]);
});

Deno.test("rows that are added, spooled, taken and put back are written once each, in their order", async () => {
  await using packs = await packFiles();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = new LogBudget();
      let settled = 0;
      const buffer = new LogBuffer(1 << 30, budget, (needed) => settled += needed.has(1, false) ? 0 : 1);
      const file = packs.create(1);
      const written: LogValues[] = [];
      let [added, inSpool] = [0, false];
      const end = (rows: readonly LogValues[]) => {
        const before = settled;
        written.push(...rows);
        buffer.settle(rows);
        const waits = buffer.length > 0 && inSpool && settled === before;
        if (settled > before) inSpool = false;
        // The spool is told as soon as it has nothing left that is needed.
        assert(!inSpool || waits, "the spool keeps what nobody needs");
      };
      for (const one of steps) {
        if (one.do === "add") {
          for (let row = 0; row < one.count; row++) buffer.add(logRow(added++));
        } else if (one.do === "spool") {
          assertEquals(buffer.unspooled.length > 0, buffer.unspooledCount > 0);
          inSpool ||= buffer.unspooledCount > 0;
          buffer.noteSpooled(1);
          assert(buffer.unspooledCount === 0);
        } else if (one.do === "move") {
          const before = budget.storedFullness;
          let moved = 0;
          buffer.moveOn(1, one.most, (rows) => {
            moved += rows.length;
            return 1;
          });
          assert(moved <= one.most * 64, "more rows move on at a time than are asked for");
          assert(budget.storedFullness <= before);
        } else if (one.do === "store") {
          const before = budget.fullness;
          const stored = buffer.storePacks(one.most, (pack) => file.store(DATABASE, "ns_1", pack));
          assert(stored === 0 || budget.fullness < before, "a stored pack takes as much memory as before");
        } else if (one.do === "take") {
          const taken = buffer.take(one.most);
          if (one.ends === "back") buffer.putBack(taken);
          else end(taken);
        }
        assertEquals(buffer.length, added - written.length);
      }
      while (buffer.length > 0) end(buffer.take(256));
      assertEquals(written, Array.from({ length: added }, (_, at) => logRow(at)));
      assertEquals([budget.fullness, budget.storedFullness], [0, 0]);
    }),
    { numRuns: 300 },
  );
});

Deno.test("a log that outgrows its bound loses its oldest waiting rows, and the spool only files that nobody needs", async () => {
  await using packs = await packFiles();
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      const budget = new LogBudget();
      /** The spool's files, by their numbers, with the rows in each; and those of packs. */
      const files = new Map<number, unknown[]>();
      const ofPacks = new Set<number>();
      const settled = (needed: NeededFiles) => {
        for (const file of files.keys()) if (!needed.has(file, ofPacks.has(file))) files.delete(file);
      };
      // Room for some 700 rows.
      const buffer = new LogBuffer(400_000, budget, settled);
      const written: unknown[] = [];
      let [added, file, spooledUpTo] = [0, 1, 0];
      const end = (rows: readonly LogValues[]) => {
        written.push(...rows.map(([id]) => id));
        buffer.settle(rows);
      };
      for (const one of steps) {
        if (one.do === "add") {
          for (let row = 0; row < one.count; row++) buffer.add(logRow(added++));
        } else if (one.do === "spool") {
          files.set(file, buffer.unspooled.map(([id]) => id));
          buffer.noteSpooled(file++);
          spooledUpTo = added;
        } else if (one.do === "move") {
          const [oldest = 0] = files.keys();
          const moved: unknown[] = [];
          const newer = file++;
          files.set(newer, moved);
          buffer.moveOn(oldest, one.most, (rows) => {
            moved.push(...rows.map(([id]) => id));
            return newer;
          });
        } else if (one.do === "left") {
          // A file of an earlier process.
          if (buffer.unspooledCount > 0) continue;
          const rows = Array.from({ length: 800 }, () => logRow(added++));
          files.set(file, rows.map(([id]) => id));
          buffer.adopt({ rows, packs: [], file: file++ });
          spooledUpTo = added;
        } else if (one.do === "store") {
          const stored: unknown[] = [];
          const packFile = packs.create(file);
          ofPacks.add(file);
          files.set(file++, stored);
          buffer.storePacks(one.most, (pack) => {
            stored.push(...pack.rows().map(([id]) => id));
            return packFile.store(DATABASE, "ns_1", pack);
          });
          buffer.releaseFiles();
        } else {
          const taken = buffer.take(one.most);
          if (one.ends === "back") buffer.putBack(taken);
          else end(taken);
        }
      }
      // Enough for the bound to be looked at once more.
      for (let row = 0; row < 20; row++) buffer.add(logRow(added++));
      const inFiles = new Set([...files.values()].flat());
      const waiting = buffer.length;
      assert(waiting - buffer.unspooledCount < 1500, `${waiting} rows wait`);
      const rest = buffer.take(waiting);
      for (const row of rest) {
        const isSpooled = Number(row[1]) - FIRST_TS < spooledUpTo;
        assert(!isSpooled || inFiles.has(row[0]), "a row that waits is in no file of the spool");
      }
      end(rest);
      assertEquals(written, [...written].sort());
      assertEquals(new Set(written).size, written.length);
      // The newest rows are there, as many as there is room for.
      const newest = Array.from({ length: Math.min(added, 600) }, (_, at) => logRow(added - 1 - at)[0]);
      assertEquals(newest.filter((id) => !written.includes(id)), []);
      assertEquals([buffer.length, budget.fullness, budget.storedFullness], [0, 0, 0]);
    }),
    { numRuns: 200 },
  );
});

/** Adds rows behind those of the packs, as whoever keeps them does. */
function addTo(packs: RowPack[], rows: readonly LogValues[], blocks: TextBlocks): void {
  for (let from = 0; from < rows.length;) {
    const rest = rows.slice(from);
    const before = packs.at(-1);
    const taken = before?.add(rest, blocks) ?? 0;
    if (taken === 0) packs.push(new RowPack(rest[0] ?? [], 1, before));
    from += taken;
  }
}

function rowsOf(packs: readonly RowPack[]): LogValues[] {
  return packs.flatMap((pack) => pack.rows());
}

const FIRST_TS = 1_790_000_000_000;

function logRow(at: number): LogValues {
  const shared = ["ns_1", "db_1", "tok_1", null, "query", "ok", null, 1, 0] as const;
  return [
    `qry_${String(at).padStart(26, "0")}`,
    FIRST_TS + at,
    ...shared,
    0.01 * (at % 7),
    1,
    "SELECT 1",
  ];
}
