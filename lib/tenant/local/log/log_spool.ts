// The spool: log rows of reads as lines in one sequential file of the service, until they are moved into their
// database's tables. To write into a database's file for each read would cost far more than the read. Rows that wait for long
// stand in files of packs, and in memory no more.
import { type Log, silentLog } from "../../../core/log.ts";
import { NeededFiles } from "../../log/needed_files.ts";
import { PackFile } from "./pack_file.ts";
import { type SpooledRows, spoolLines } from "./spool_lines.ts";
import {
  type LeftRows,
  type LeftSegment,
  leftSegments,
  readSegment,
  segmentPath,
  type SpoolSegment,
} from "./spool_segments.ts";

/** Bytes of lines; beyond them rows go straight into their tables. The memory of rows that wait is bounded above that. */
export const SPOOL_BYTES = 64 * 1024 * 1024;
/** Bytes of packs, some nine million rows. */
const PACKS_BYTES = 512 * 1024 * 1024;
/** Bytes of one file of lines. */
const SEGMENT_BYTES = 4 * 1024 * 1024;

/** The spool of this process. */
export class LogSpool {
  readonly #encoder = new TextEncoder();
  #file: Deno.FsFile | null = null;
  #syncing: Promise<void> | null = null;
  #isSynced = true;
  #isClosed = false;
  /** The file of packs that is being written; it stays while it has none. */
  #packing: SpoolSegment | undefined;
  /** Settles when each file but the newest one is closed, or removed. */
  #closing: Promise<void> = Promise.resolve();
  readonly #segments: SpoolSegment[] = [];
  #next: number;
  /** Whether all that an earlier process has left has been read. */
  #isRead: boolean;

  /** `left`: the files that an earlier process has left, in order. */
  private constructor(
    private readonly folder: string,
    private readonly left: readonly LeftSegment[],
    private readonly log: Log,
    private readonly packsBytes: number,
  ) {
    this.#next = (left.at(-1)?.number ?? 0) + 1;
    this.#isRead = left.length === 0;
  }

  /** Opens the spool; `packsBytes` bounds its packs. What an earlier process has left in it is read by `readLeft`. */
  static async open(folder: string, log: Log = silentLog, packsBytes = PACKS_BYTES): Promise<LogSpool> {
    return new LogSpool(folder, await leftSegments(folder), log, packsBytes);
  }

  /** What an earlier process has left, file after file, so that no more of it than one file is in memory. */
  async *readLeft(): AsyncGenerator<LeftRows> {
    for (const left of this.left) {
      const read = await readSegment(left, this.log);
      if (read === null) continue;
      this.#segments.push(read.segment);
      yield* read.rows;
    }
    this.#isRead = true;
    this.#dropDone();
  }

  /** Bytes of lines, whose rows are in memory as well. */
  get bytes(): number {
    return this.#bytesOf((one) => one.packs === null);
  }

  /** How much of the room for lines is used, up to 1. */
  get linesFullness(): number {
    return this.bytes / SPOOL_BYTES;
  }

  /** How much of that for packs is used, up to 1. */
  get packsFullness(): number {
    return this.#bytesOf((one) => one.packs !== null) / this.packsBytes;
  }

  #bytesOf(of: (one: SpoolSegment) => boolean): number {
    return this.#segments.reduce((sum, one) => of(one) ? sum + one.bytes : sum, 0);
  }

  /** Databases with rows in the oldest file. None while files are read: whose rows still come would seem to have none. */
  get oldest(): readonly string[] {
    return this.#isRead ? [...this.#segments[0]?.databases ?? []] : [];
  }

  /** Those with rows in lines. None while files are read. */
  get inLines(): readonly string[] {
    const lines = this.#isRead ? this.#segments.filter(({ packs }) => packs === null) : [];
    return [...new Set(lines.flatMap(({ databases }) => [...databases]))];
  }

  /**
   * Appends the rows; returns the number of their file, or null: they are not in the spool, because it is full or cannot be
   * written. They are on the disk after the next `sync`.
   */
  append(entries: readonly SpooledRows[]): number | null {
    const bytes = this.#encoder.encode(spoolLines(entries));
    if (this.bytes + bytes.length > SPOOL_BYTES) return null;
    try {
      this.#write(bytes);
    } catch {
      this.#abandonFile();
      return null;
    }
    const segment = this.#segments.at(-1);
    for (const { databaseId } of entries) segment?.databases.add(databaseId);
    this.#isSynced = false;
    return segment?.number ?? null;
  }

  /**
   * Writes packs into a file of their own, as `write` gives them to `store`, and has it synced before what it makes needless is
   * given up. Rows that come meanwhile go into a file behind it. Throws what the disk and `write` throw.
   */
  async pack(write: (store: PackFile["store"]) => Promise<void>): Promise<void> {
    this.#abandonFile();
    const number = this.#next++;
    const path = segmentPath(this.folder, "packs", number);
    const packs = PackFile.create(path, number, this.log);
    const segment = { number, path, bytes: 0, databases: new Set<string>(), packs };
    this.#segments.push(segment);
    this.#packing = segment;
    try {
      await write((databaseId, namespaceId, pack) => {
        const stored = packs.store(databaseId, namespaceId, pack);
        segment.bytes = packs.length;
        segment.databases.add(databaseId);
        return stored;
      });
    } finally {
      await syncData(packs);
      this.#packing = undefined;
      this.#dropDone();
    }
  }

  /** Begins to bring to the disk what has been appended. */
  sync(): void {
    if (!this.#isSynced) this.#syncing ??= this.#sync();
  }

  /** All rows of the database that stand in other files than those needed are in its table, or gone. */
  settled(databaseId: string, needed = new NeededFiles()): void {
    for (const { number, databases, packs } of this.#segments) {
      if (!needed.has(number, packs !== null)) databases.delete(databaseId);
    }
    this.#dropDone();
  }

  #dropDone(): void {
    if (this.#isClosed) return;
    const open = this.#file === null ? undefined : this.#segments.at(-1);
    const kept = [open, this.#packing];
    for (const one of this.#segments.filter((one) => one.databases.size === 0 && !kept.includes(one))) {
      this.#segments.splice(this.#segments.indexOf(one), 1);
      one.packs?.close();
      // Not waited for: the file system may take milliseconds to remove it.
      const before = this.#closing;
      this.#closing = removeIfThere(one.path).then(() => before);
    }
    if (open && open.databases.size === 0 && open.bytes > 0) this.#empty(open);
  }

  /** The number of the oldest file; null where that is the newest one. */
  get oldestFile(): number | null {
    return this.#segments.length > 1 ? this.#segments[0]?.number ?? null : null;
  }

  /** What is settled later is in the spool of the next process too, which knows the rows by their ids. */
  async close(): Promise<void> {
    this.#abandonFile();
    this.#dropDone();
    this.#isClosed = true;
    for (const { packs } of this.#segments) packs?.close();
    await this.#closing;
  }

  #write(bytes: Uint8Array): void {
    const segment = this.#segmentFor(bytes.length);
    const { file } = segment;
    for (let sent = 0; sent < bytes.length;) sent += file.writeSync(bytes.subarray(sent));
    segment.entry.bytes += bytes.length;
  }

  #segmentFor(length: number): { readonly file: Deno.FsFile; readonly entry: SpoolSegment } {
    const last = this.#segments.at(-1);
    if (this.#file && last && last.bytes + length <= SEGMENT_BYTES) return { file: this.#file, entry: last };
    this.#abandonFile();
    const number = this.#next++;
    const path = segmentPath(this.folder, "log", number);
    const file = Deno.openSync(path, { createNew: true, append: true, mode: 0o600 });
    this.#file = file;
    const entry = { number, path, bytes: 0, databases: new Set<string>(), packs: null };
    this.#segments.push(entry);
    return { file, entry };
  }

  /** What it holds stays; the next rows begin another one. */
  #abandonFile(): void {
    const file = this.#file;
    if (file === null) return;
    const under = [this.#closing, this.#syncing];
    const isSynced = this.#isSynced;
    this.#file = null;
    this.#isSynced = true;
    this.#closing = Promise.all(under).then(async () => {
      if (!isSynced) await syncData(file);
      file.close();
    });
  }

  #empty(segment: SpoolSegment): void {
    try {
      this.#file?.truncateSync(0);
      segment.bytes = 0;
    } catch {
      this.#abandonFile();
    }
  }

  async #sync(): Promise<void> {
    this.#isSynced = true;
    if (this.#file) await syncData(this.#file);
    this.#syncing = null;
  }
}

/** The rows are in the system's memory; a disk that fails is told by whatever must be on it. */
async function syncData(file: Pick<Deno.FsFile, "syncData">): Promise<void> {
  await file.syncData().catch(() => {});
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch {
    // It is gone already, or it is read again at the next start, and its rows are known by their ids.
  }
}
