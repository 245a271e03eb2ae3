// The spool: log rows of reads as lines in one sequential file of the service, until they are moved into their
// database's tables. To write into a database's file for each read would cost far more than the read.
import type { LogValues } from "../log_columns.ts";
import { readSpoolLine, type SpooledRows, spoolLines } from "./spool_lines.ts";

/** Bytes of the whole spool; beyond it rows go straight into their tables. The waiting rows' memory is bounded above that. */
export const SPOOL_BYTES = 64 * 1024 * 1024;
/** Bytes of one of its files. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
const NAME = /^log-(\d{1,15})\.jsonl$/;

interface Segment {
  readonly number: number;
  readonly path: string;
  bytes: number;
  /** Those with rows here that are not in their table yet. */
  readonly databases: Set<string>;
}

/** The spool of this process. */
export class LogSpool {
  readonly #encoder = new TextEncoder();
  #file: Deno.FsFile | null = null;
  #syncing: Promise<void> | null = null;
  #isSynced = true;
  /** Settles when each file but the newest one is closed, or removed. */
  #closing: Promise<void> = Promise.resolve();
  readonly #segments: Segment[] = [];
  #next: number;
  /** Whether all that an earlier process has left has been read. */
  #isRead: boolean;

  /** `left`: the numbers of the files that an earlier process has left, in order. */
  private constructor(private readonly folder: string, private readonly left: readonly number[]) {
    this.#next = (left.at(-1) ?? 0) + 1;
    this.#isRead = left.length === 0;
  }

  /** Opens the spool. What an earlier process has left in it is read by `readLeft`. */
  static async open(folder: string): Promise<LogSpool> {
    const numbers: number[] = [];
    for await (const { name } of Deno.readDir(folder)) {
      const [, number] = NAME.exec(name) ?? [];
      if (number !== undefined) numbers.push(Number(number));
    }
    return new LogSpool(folder, numbers.sort((a, b) => a - b));
  }

  /** What an earlier process has left, file after file, so that no more of it than one file is in memory. */
  async *readLeft(): AsyncGenerator<SpooledRows & { readonly file: number }> {
    for (const number of this.left) {
      const path = this.#pathOf(number);
      const bytes = await Deno.readFile(path);
      const text = new TextDecoder().decode(bytes);
      const found = new Map<string, SpooledRows & { readonly rows: LogValues[] }>();
      // A line that was cut off by the end of a process is none.
      for (const one of text.split("\n").flatMap(readSpoolLine)) {
        const known = found.get(one.databaseId);
        if (known) known.rows.push(...one.rows);
        else found.set(one.databaseId, { ...one, rows: [...one.rows] });
      }
      this.#segments.push({ number, path, bytes: bytes.length, databases: new Set(found.keys()) });
      for (const one of found.values()) yield { ...one, file: number };
    }
    this.#isRead = true;
    this.#dropDone();
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** How much of it is used, up to 1. */
  get fullness(): number {
    return this.bytes / SPOOL_BYTES;
  }

  /** Databases with rows in the oldest file. None while files are read: whose rows still come would seem to have none. */
  get oldest(): readonly string[] {
    return this.#isRead ? [...this.#segments[0]?.databases ?? []] : [];
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

  /** Begins to bring to the disk what has been appended. */
  sync(): void {
    if (!this.#isSynced) this.#syncing ??= this.#sync();
  }

  /** All rows of the database that stand in files before that one are in its table, or gone. */
  settled(databaseId: string, firstFile = Infinity): void {
    for (const { number, databases } of this.#segments) if (number < firstFile) databases.delete(databaseId);
    this.#dropDone();
  }

  #dropDone(): void {
    const open = this.#file === null ? undefined : this.#segments.at(-1);
    const done = this.#segments.filter((one) => one.databases.size === 0 && one !== open);
    for (const one of done) {
      this.#segments.splice(this.#segments.indexOf(one), 1);
      // Not waited for: the file system may take milliseconds to remove it.
      const before = this.#closing;
      this.#closing = removeIfThere(one.path).then(() => before);
    }
    if (open && open.databases.size === 0 && open.bytes > 0) this.#empty(open);
  }

  /** Whether others than the newest file have rows of the database. */
  isInOlder(databaseId: string): boolean {
    return this.#segments.slice(0, -1).some(({ databases }) => databases.has(databaseId));
  }

  /** Whatever the database has in the spool is in the newest file as well. */
  leaveOlder(databaseId: string): void {
    for (const { databases } of this.#segments.slice(0, -1)) databases.delete(databaseId);
    this.#dropDone();
  }

  async close(): Promise<void> {
    this.#abandonFile();
    this.#dropDone();
    await this.#closing;
  }

  #write(bytes: Uint8Array): void {
    const segment = this.#segmentFor(bytes.length);
    const { file } = segment;
    for (let sent = 0; sent < bytes.length;) sent += file.writeSync(bytes.subarray(sent));
    segment.entry.bytes += bytes.length;
  }

  #segmentFor(length: number): { readonly file: Deno.FsFile; readonly entry: Segment } {
    const last = this.#segments.at(-1);
    if (this.#file && last && last.bytes + length <= SEGMENT_BYTES) return { file: this.#file, entry: last };
    this.#abandonFile();
    const number = this.#next++;
    const path = this.#pathOf(number);
    const file = Deno.openSync(path, { createNew: true, append: true, mode: 0o600 });
    this.#file = file;
    const entry = { number, path, bytes: 0, databases: new Set<string>() };
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

  #pathOf(number: number): string {
    return `${this.folder}/log-${number}.jsonl`;
  }

  #empty(segment: Segment): void {
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

async function syncData(file: Deno.FsFile): Promise<void> {
  try {
    await file.syncData();
  } catch {
    // The rows are in the system's memory; a disk that fails is told by whatever must be on it.
  }
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch {
    // It is gone already, or it is read again at the next start, and its rows are known by their ids.
  }
}
