// Log rows of reads, whatever happens to them in whatever order: rows of all lengths, refused calls, looks, readers of a log, a
// disk that is full, deletions, stops and kills. Each row is in its table in the end, as it was, and the spool has no file left.
import type { DatabaseIds } from "../../lib/core/database_ids.ts";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { AppError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import { silentLog } from "../../lib/core/log.ts";
import { pause } from "../../lib/core/pause.ts";
import type { DatabaseRequest } from "../../lib/tenant/local/child/protocol.ts";
import type { DatabaseHost } from "../../lib/tenant/local/database_host.ts";
import type { DatabaseLanes } from "../../lib/tenant/local/lanes/database_lanes.ts";
import { LogFlusher } from "../../lib/tenant/local/log/log_flusher.ts";
import { LogSpool } from "../../lib/tenant/local/log/log_spool.ts";
import type { ReplyFrame } from "../../lib/tenant/local/frames/reply_frames.ts";
import type { LogValue, LogValues } from "../../lib/tenant/log_columns.ts";
import { rounds } from "../testing/rounds.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const DATABASES = 6;
/** With rows of 400 kB, some forty of which are left to the disk, and a hundred and fifty moved. */
const PACKS_BYTES = 100_000_000;
const LONG = "x".repeat(400_000);

const database = fc.nat({ max: DATABASES - 1 });
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant("add" as const), database, long: fc.nat({ max: 12 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("add" as const), database, short: fc.nat({ max: 150 }) }),
  },
  fc.record({ do: fc.constant("refuse" as const), database, call: fc.nat({ max: 2 }) }),
  { weight: 6, arbitrary: fc.record({ do: fc.constant("look" as const), ms: fc.constantFrom(0, 0, 1, 5) }) },
  fc.record({ do: fc.constant("read" as const), database }),
  fc.record({ do: fc.constant("disk" as const), isFull: fc.boolean() }),
  fc.record({ do: fc.constant("rest" as const), isQuiet: fc.boolean() }),
  fc.record({ do: fc.constant("drop" as const), database }),
  fc.record({ do: fc.constant("restart" as const), isKill: fc.boolean() }),
);

/** The tables of all databases, and whoever writes them. */
class Tables implements Pick<DatabaseHost, "isQuiet" | "lanes" | "lookups" | "task"> {
  readonly lookups = null;
  readonly rows = new Map<LogValue | undefined, LogValues>();
  isQuiet = false;
  isFull = false;

  constructor(readonly lanes: (database: DatabaseIds) => DatabaseLanes) {}

  async task(request: DatabaseRequest): Promise<ReplyFrame> {
    await pause(0);
    if (this.isFull) throw new AppError("storage_full");
    if (request.op !== "log") throw new Error(request.op);
    for (const { rows, columns } of request.logRows) {
      for (let at = 0; at < rows; at++) {
        const row = columns.map((column) => Array.isArray(column) ? column[at] ?? null : column);
        this.rows.set(row[0], row);
      }
    }
    return { reply: { t: "done" }, text: "" };
  }
}

/** One installation, over all of its processes. */
class Installation {
  readonly ids = Array.from({ length: DATABASES }, () => newId("db", 1));
  readonly calls = Array.from({ length: 3 }, () => newId("evt", 1));
  readonly clock = new TurnableClock();
  readonly dropped = new Set<number>();
  readonly added = new Map<LogValue | undefined, LogValues>();
  readonly tables = new Tables(({ databaseId }) => this.lanes(databaseId));
  #lanes = new Map<string, DatabaseLanes>();
  #spool!: LogSpool;
  #flusher!: LogFlusher;
  #count = 0;

  constructor(private readonly folder: string) {}

  async start(): Promise<void> {
    this.#lanes = new Map();
    this.#spool = await LogSpool.open(this.folder, silentLog, PACKS_BYTES);
    const { clock, tables: host } = this;
    const options = { host, spool: this.#spool, clock, log: silentLog, logDays: 30, logBytes: 1 << 30 };
    this.#flusher = new LogFlusher(options);
    for await (const { databaseId, namespaceId: _, ...left } of this.#spool.readLeft()) {
      if (this.dropped.has(this.ids.indexOf(databaseId))) this.#spool.settled(databaseId);
      else this.lanes(databaseId).log.adopt(left);
    }
  }

  lanes(databaseId: string): DatabaseLanes {
    const lanes = this.#lanes.get(databaseId) ?? this.#flusher.newLanes(databaseId, "ns_1");
    this.#lanes.set(databaseId, lanes);
    return lanes;
  }

  /** Rows of a query log; `text` with a number of two digits at its end. */
  add(database: number, rows: number, text: string): void {
    const databaseId = this.ids[database] ?? "";
    for (let at = 0; at < rows; at++) {
      const figures = ["ok", null, 1, 0, 0.1, 1];
      const sql = `${text}${this.#count++ % 100}`;
      const row = [newId("qry", 1), 1, "ns_1", databaseId, "tok_1", null, "query", ...figures, sql];
      this.#add(database, row);
    }
  }

  /** A call of an endpoint that was refused, once more than before. */
  refuse(database: number, call: number): void {
    const id = `${this.calls[call]?.slice(0, -1)}${database}`;
    const times = Number(this.added.get(id)?.at(-1) ?? 0) + 1;
    this.#add(database, [id, 1, "join", "error", 403, 0, 0, 0, null, null, "policy_denied", null, times]);
  }

  #add(database: number, row: LogValues): void {
    if (this.dropped.has(database)) return;
    this.added.set(row[0], row);
    this.lanes(this.ids[database] ?? "").log.add(row);
  }

  async look(ms: number): Promise<void> {
    this.#flusher.flushAll();
    await pause(ms);
  }

  async read(database: number): Promise<void> {
    if (!this.dropped.has(database)) await this.#flusher.flush(this.lanes(this.ids[database] ?? ""));
  }

  drop(database: number): void {
    const lanes = this.lanes(this.ids[database] ?? "");
    lanes.dropped = true;
    lanes.log.end();
    this.dropped.add(database);
  }

  /** A killed process has all rows in its spool, as it has a quarter of a second later. Afterwards its files are as they were then. */
  async restart(isKill: boolean): Promise<void> {
    this.tables.isFull = false;
    const copy = `${this.folder}.copy`;
    do await this.look(2); while ([...this.#lanes.values()].some(({ log }) => log.unspooledCount > 0));
    await Promise.all([...this.#lanes.values()].map(({ logFlush }) => logFlush));
    if (isKill) copyFiles(this.folder, copy);
    await this.#flusher.close(this.#lanes.values());
    if (isKill) {
      await Deno.remove(this.folder, { recursive: true });
      await Deno.rename(copy, this.folder);
    }
    await this.start();
  }

  /** All rows are moved; returns what the spool has then. */
  async end(): Promise<string[]> {
    this.tables.isFull = false;
    for (const database of this.ids.keys()) {
      do {
        this.clock.turn(10_000);
        await this.look(1);
        await this.read(database);
      } while (!this.dropped.has(database) && this.lanes(this.ids[database] ?? "").log.length > 0);
    }
    await this.#flusher.close(this.#lanes.values());
    return await namesIn(this.folder);
  }
}

Deno.test("log rows are in their tables in the end, whatever happens to them before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      const folder = await Deno.makeTempDir({ prefix: "cubby_spool_" });
      try {
        const one = new Installation(folder);
        await one.start();
        for (const step of steps) {
          if (step.do === "add" && "long" in step) one.add(step.database, step.long, LONG);
          else if (step.do === "add") one.add(step.database, step.short, "SELECT ");
          else if (step.do === "refuse") one.refuse(step.database, step.call);
          else if (step.do === "look") await one.look(step.ms);
          else if (step.do === "read") await one.read(step.database);
          else if (step.do === "disk") one.tables.isFull = step.isFull;
          else if (step.do === "drop") one.drop(step.database);
          else if (step.do === "restart") await one.restart(step.isKill);
          else {
            one.tables.isQuiet = step.isQuiet;
            one.clock.turn(11_000);
          }
        }
        assertEquals(await one.end(), []);
        const ofDropped = [...one.dropped].map((at) => one.ids[at]);
        for (const [id, row] of one.added) {
          const isLeft = !ofDropped.includes(String(row[3])) && !one.dropped.has(Number(String(id).at(-1)));
          if (isLeft) assertEquals(one.tables.rows.get(id), row);
        }
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    }),
    { numRuns: rounds(12, 200) },
  );
});

/** As a kill leaves them: nothing else is done meanwhile. A file that is being removed has nothing that anybody needs. */
function copyFiles(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const { name } of Deno.readDirSync(from)) {
    try {
      Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}
