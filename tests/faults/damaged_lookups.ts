// Damaged files beneath look-ups by key, run by hand: `deno run -A tests/faults/damaged_lookups.ts --rounds 20000 --seed 1`.
// The service reads small files itself, so no byte on the disk may end, stop or swell its process, or show rows of another
// database. Ends with code 1 where one does. A round that ends the process is named with its seed.
import { DatabaseSync } from "node:sqlite";
import {
  type Lookup,
  LookupConnection,
  LookupImages,
  type LookupReader,
} from "../../lib/engine/lookup_connection.ts";
import { PLAIN_ROWS } from "../../lib/sql/words/row_form.ts";
import { FileImages } from "../../lib/tenant/local/lookups/file_images.ts";
import { print } from "../testing/print.ts";
import { startPermissions } from "../testing/start_permissions.ts";
import { Dice } from "./wild_statements.ts";

/** Rounds of one process, milliseconds that a round may take, and bytes by which the process may grow. */
const ROUNDS_OF_A_PROCESS = 2_000;
const SLOW_MS = 1_000;
const GROWN_BYTES = 400 * 1024 ** 2;
const BOUNDS = { maxRows: 100, maxBytes: 1_000_000 };
const FILES = ["", "-wal", "-shm"] as const;
/** Where the index has how far the log is folded in, and where its readers are (sqlite.org/walformat.html, 2.1). */
const CHECKPOINT_NUMBERS = [96, 136] as const;

const LOOKUPS: readonly (readonly [string, (dice: Dice) => number | string])[] = [
  ["SELECT * FROM plain WHERE id = ?", (dice) => dice.one(0, 1, 7, 40, 119, 9e15)],
  ["SELECT name FROM plain WHERE code = ?", (dice) => `c${dice.below(130)}`],
  ["SELECT b, length(b) FROM bare WHERE a = ?", (dice) => `k${dice.below(60)}`],
  ["SELECT b FROM bare WHERE a = ?", (dice) => `K${dice.below(60)}`],
  ["SELECT long FROM wide WHERE id = ?", (dice) => dice.below(8)],
  ["SELECT twice, next FROM made WHERE id = ?", (dice) => dice.below(40)],
  ["SELECT * FROM plain WHERE id >= ? ORDER BY id LIMIT 100", (dice) => dice.below(130)],
  ["SELECT id, name FROM plain WHERE code > ? ORDER BY code LIMIT 50", (dice) => `c${dice.below(130)}`],
  ["SELECT b FROM bare WHERE a < ? ORDER BY a DESC LIMIT 30", (dice) => `k${dice.below(60)}`],
  ["SELECT long FROM wide WHERE id > ? LIMIT 8", (dice) => dice.below(8)],
];

interface Base {
  readonly version: number;
  /** Bytes of the file, and of its log and its index where it has them. */
  readonly parts: ReadonlyMap<string, Uint8Array>;
  readonly mark: string;
}

/** A small database with all that look-ups read; `mark` stands in each row. */
function makeBase(path: string, dice: Dice, mark: string): Base {
  for (const end of FILES) removeIfThere(path + end);
  const database = new DatabaseSync(path);
  const withLog = !dice.rarely(3);
  database.exec(
    `PRAGMA page_size=${dice.one(512, 1024, 4096, 4096, 16384)}; PRAGMA auto_vacuum=${dice.below(3)}`,
  );
  database.exec(
    `PRAGMA journal_mode=${withLog ? "WAL" : "DELETE"}; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=OFF;
    CREATE TABLE plain (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT, n REAL DEFAULT 1.5, z BLOB);
    CREATE TABLE bare (a TEXT COLLATE NOCASE PRIMARY KEY, b TEXT) WITHOUT ROWID;
    CREATE TABLE wide (id INTEGER PRIMARY KEY, long TEXT) STRICT;
    CREATE TABLE made (id INTEGER PRIMARY KEY, v INTEGER, twice INTEGER AS (v * 2) STORED, next INTEGER AS (v + 1));
    CREATE TABLE gone (x); CREATE INDEX some ON plain (name) WHERE n > 1`,
  );
  const fill = (count: number, sql: string, values: (at: number) => (string | number)[]) => {
    const insert = database.prepare(sql);
    for (let at = 0; at < count; at++) insert.run(...values(at));
  };
  database.exec("BEGIN");
  fill(120, "INSERT INTO plain VALUES (?, ?, ?, 2.5, x'00ff')", (at) => [at, `c${at}`, `${mark} ${at}`]);
  fill(60, "INSERT INTO bare VALUES (?, ?)", (at) => [`k${at}`, `${mark} ${"y".repeat(at)}`]);
  fill(8, "INSERT INTO wide VALUES (?, ?)", (at) => [at, mark + "w".repeat(at * 1_500)]);
  fill(40, "INSERT INTO made (v) VALUES (?)", (at) => [at]);
  fill(60, "INSERT INTO gone VALUES (?)", () => [mark.repeat(20)]);
  database.exec("DROP TABLE gone; COMMIT");
  if (dice.rarely(2)) database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  database.exec("UPDATE plain SET n = n + 1 WHERE id % 9 = 0");
  const version = Number(database.prepare("PRAGMA schema_version").get()?.["schema_version"]);
  const parts = new Map<string, Uint8Array>();
  for (const end of FILES) {
    const bytes = readIfThere(path + end);
    if (bytes) parts.set(end, bytes);
  }
  database.close();
  return { version, parts, mark };
}

/** Changes some bytes as a bad disk or a lost write does; sometimes cuts or lengthens what there is. */
function damage(bytes: Uint8Array, dice: Dice, mayCut: boolean): Uint8Array {
  let after = bytes.slice();
  const view = new DataView(after.buffer);
  const page = dice.one(512, 1024, 4096);
  const pages = Math.max(1, Math.floor(after.length / page));
  // The heads of the file, of a page, of a cell; or anywhere.
  const place = () => {
    const start = dice.below(pages) * page;
    return Math.min(
      after.length - 4,
      dice.one(dice.below(100), start + dice.below(12), start + dice.below(60), dice.below(after.length)),
    );
  };
  for (let left = 1 + dice.below(dice.one(1, 4, 12)); left > 0; left--) {
    const at = Math.max(0, place());
    const act = dice.below(7);
    if (act === 0) after[at] = (after[at] ?? 0) ^ (1 << dice.below(8));
    else if (act === 1) after[at] = dice.below(256);
    else if (act === 2) view.setUint16(at, dice.one(0, 1, 0xffff, dice.below(65_536)));
    else if (act === 3) {
      view.setUint32(at, dice.one(0, 1, 2, 0xffff_ffff, 0x7fff_ffff, dice.below(pages + 3)));
    } else if (act === 4) after.fill(dice.one(0, 0xff, 0x5a), at, at + dice.below(page));
    else if (act === 5) {
      after.copyWithin(dice.below(pages) * page, dice.below(pages) * page, (dice.below(pages) + 1) * page);
    } else after.set([0x81, 0x82, 0xff, 0xff].slice(dice.below(4)), at);
  }
  if (mayCut && dice.rarely(12)) after = after.slice(0, dice.below(after.length + 1));
  if (mayCut && dice.rarely(20)) after = new Uint8Array([...after, ...new Uint8Array(dice.below(9_000))]);
  return after;
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function readIfThere(path: string): Uint8Array | null {
  try {
    return Deno.readFileSync(path);
  } catch {
    return null;
  }
}

/** How reads have ended, and what none may do. */
class Findings {
  readonly counts = new Map<string, number>();
  readonly wrong: string[] = [];

  note(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** One read of whatever kind: any failure is fine. `others`: marks of other databases. */
  read(name: string, others: readonly string[], run: () => string | null): void {
    let text: string | null;
    try {
      text = run();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.note(`${name} refused`);
      return;
    }
    this.note(text === null ? `${name} left` : `${name} answered`);
    if (text !== null && others.some((mark) => text.includes(mark))) {
      this.wrong.push(`${name} shows another database`);
    }
  }
}

function readOne(reader: LookupReader, lookup: Lookup, key: number | string): string {
  return reader.read(lookup, [key], BOUNDS, PLAIN_ROWS).json;
}

/** On a connection: damaged before it was opened, and damaged again beneath it. */
function onConnection(path: string, base: Base, dice: Dice, { findings, others }: Round): void {
  let connection: LookupConnection;
  try {
    connection = new LookupConnection(path);
  } catch {
    return findings.note("connection not opened");
  }
  const open = FILES.map((end) =>
    readIfThere(path + end) && Deno.openSync(path + end, { read: true, write: true })
  );
  try {
    const known = dice.many(1, 3, () => dice.one(...LOOKUPS));
    const lookups: [Lookup | null, (dice: Dice) => number | string][] = [];
    findings.read("schema", [], () => String(connection.schemaBytes()));
    for (const [sql, key] of known) {
      findings.read("compile", [], () => {
        const lookup = connection.compile(sql, base.version);
        lookups.push([lookup, key]);
        return lookup && "";
      });
    }
    for (let turn = 0; turn < 3; turn++) {
      findings.read("begin", [], () => (connection.begin(), ""));
      for (const [lookup, key] of lookups) {
        if (lookup) findings.read("connection", others, () => readOne(connection, lookup, key(dice)));
        const which = dice.below(3);
        const file = open[which];
        if (file && dice.rarely(2)) scribble(file, dice, which === 2);
      }
      findings.read("end", [], () => (connection.end(), ""));
    }
  } finally {
    for (const file of open) file?.close();
    connection.close();
  }
}

/** Damages what a connection has open. `isIndex`: others write it in memory only; it stays as long, and its numbers of the checkpoint stay. */
function scribble(file: Deno.FsFile, dice: Dice, isIndex: boolean): void {
  const { size } = file.statSync();
  if (size < 200) return;
  if (!isIndex && dice.rarely(15)) return file.truncateSync(dice.below(size));
  const before = new Uint8Array(size);
  file.seekSync(0, Deno.SeekMode.Start);
  const read = file.readSync(before) ?? 0;
  if (read < 200) return;
  const after = damage(before.subarray(0, read), dice, false);
  // The engine trusts these numbers: with others it reads where there is no memory.
  if (isIndex) after.set(before.subarray(...CHECKPOINT_NUMBERS), CHECKPOINT_NUMBERS[0]);
  file.seekSync(0, Deno.SeekMode.Start);
  file.writeSync(after);
}

interface Round {
  readonly findings: Findings;
  readonly others: readonly string[];
}

/** The rounds of one process. Each says its number first, so that the last one of a process that ends is known. */
function runRounds(seed: number, rounds: number): void {
  const folder = Deno.makeTempDirSync({ prefix: "cubby_damage_" });
  const path = `${folder}/some.db`;
  const dice = new Dice(seed);
  const bases = Array.from(
    { length: 12 },
    (_, at) => makeBase(path, dice, `mark-${String.fromCharCode(97 + at).repeat(8)}`),
  );
  const images = new FileImages(new LookupImages());
  const findings = new Findings();
  const beginBytes = Deno.memoryUsage().rss;
  for (let round = 0; round < rounds; round++) {
    Deno.stdout.writeSync(new TextEncoder().encode(`round ${round}\n`));
    const own = new Dice(seed * 100_003 + round);
    const base = own.one(...bases);
    const others = bases.filter((other) => other !== base).map(({ mark }) => mark);
    for (const end of FILES) removeIfThere(path + end);
    const target = own.one(...base.parts.keys());
    for (const [end, bytes] of base.parts) {
      Deno.writeFileSync(path + end, end === target && !own.rarely(8) ? damage(bytes, own, true) : bytes);
    }
    const startedMs = performance.now();
    for (const [sql, key] of own.many(1, 3, () => own.one(...LOOKUPS))) {
      findings.read("image", others, () => {
        const lookup = images.compile(path, sql, { schemaVersion: base.version, columns: null });
        return lookup && readOne(images.connection, lookup, key(own));
      });
    }
    onConnection(path, base, own, { findings, others });
    const tookMs = performance.now() - startedMs;
    if (tookMs > SLOW_MS) findings.wrong.push(`round ${round} took ${Math.round(tookMs)} ms`);
  }
  const grown = Deno.memoryUsage().rss - beginBytes;
  if (grown > GROWN_BYTES) findings.wrong.push(`the process has grown by ${grown} bytes`);
  Deno.removeSync(folder, { recursive: true });
  print(JSON.stringify({ wrong: findings.wrong, grown, counts: Object.fromEntries(findings.counts) }));
}

/** Rounds in processes of their own. How many have failed. */
async function runProcesses(seed: number, rounds: number): Promise<number> {
  let failed = 0;
  for (let first = 0; first < rounds; first += ROUNDS_OF_A_PROCESS) {
    const own = seed + first / ROUNDS_OF_A_PROCESS;
    const count = Math.min(ROUNDS_OF_A_PROCESS, rounds - first);
    const args = [
      "run",
      ...startPermissions(),
      "--no-check",
      import.meta.filename ?? "",
      "--process",
      `${own}`,
      `${count}`,
    ];
    const { code, signal, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args,
      signal: AbortSignal.timeout(300_000),
    }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    const last = lines.at(-1) ?? "";
    if (code !== 0 || !last.startsWith('{"wrong":[]')) failed++;
    print(
      `seed ${own}: ${signal ?? code} ${last} ${
        code === 0 ? "" : new TextDecoder().decode(stderr).slice(-600)
      }`,
    );
  }
  return failed;
}

const [name, first, second] = Deno.args;
if (name === "--process") runRounds(Number(first), Number(second));
else {
  const read = (option: string, usual: number) =>
    Number(Deno.args[Deno.args.indexOf(option) + 1] ?? usual) || usual;
  const failed = await runProcesses(read("--seed", 1), read("--rounds", 20_000));
  Deno.exit(failed === 0 ? 0 : 1);
}
