// The spool: log rows of reads as lines in one sequential file of the service, until they are moved into their
// database's tables. To write into a database's file for each read would cost far more than the read.
import type { LogValues } from "../log_columns.ts";
import { readSpoolLine, type SpooledRows, spoolLines } from "./spool_lines.ts";

/** Bytes of the whole spool; beyond it rows go straight into their tables. The waiting rows' memory is bounded above that. */
export const SPOOL_BYTES = 24 * 1024 * 1024;
/** Bytes of one of its files. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
const NAME = /^log-(\d{1,15})\.jsonl$/;

interface Segment {
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
  #next: number;

  private constructor(private readonly folder: string, private readonly segments: Segment[], last: number) {
    this.#next = last + 1;
  }

  /** Opens the spool, and reads what an earlier process has left in it; each database is told of once. */
  static async open(folder: string): Promise<{ spool: LogSpool; left: SpooledRows[] }> {
    const numbers: number[] = [];
    for await (const { name } of Deno.readDir(folder)) {
      const [, number] = NAME.exec(name) ?? [];
      if (number !== undefined) numbers.push(Number(number));
    }
    const left = new Map<string, SpooledRows & { rows: LogValues[] }>();
    const segments: Segment[] = [];
    for (const number of numbers.sort((a, b) => a - b)) {
      const path = `${folder}/log-${number}.jsonl`;
      const text = await Deno.readTextFile(path);
      // A line that was cut off by the end of a process is none.
      const found = text.split("\n").flatMap(readSpoolLine);
      for (const one of found) {
        const known = left.get(one.databaseId);
        if (known) known.rows.push(...one.rows);
        else left.set(one.databaseId, { ...one, rows: [...one.rows] });
      }
      const databases = new Set(found.map(({ databaseId }) => databaseId));
      segments.push({ path, bytes: text.length, databases });
    }
    const spool = new LogSpool(folder, segments, numbers.at(-1) ?? 0);
    return { spool, left: [...left.values()] };
  }

  get bytes(): number {
    return this.segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** How much of it is used, up to 1. */
  get fullness(): number {
    return this.bytes / SPOOL_BYTES;
  }

  /** Databases with rows in the oldest file. */
  get oldest(): readonly string[] {
    return [...this.segments[0]?.databases ?? []];
  }

  /** Appends the rows; false: they are not in the spool, because it is full or cannot be written. */
  append(entries: readonly SpooledRows[]): boolean {
    const bytes = this.#encoder.encode(spoolLines(entries));
    if (this.bytes + bytes.length > SPOOL_BYTES) return false;
    try {
      this.#write(bytes);
    } catch {
      this.#abandonFile();
      return false;
    }
    const segment = this.segments.at(-1);
    for (const { databaseId } of entries) segment?.databases.add(databaseId);
    this.#syncing ??= this.#sync();
    return true;
  }

  /** All rows of the database are in its table, or gone with it. */
  settled(databaseId: string): void {
    for (const { databases } of this.segments) databases.delete(databaseId);
    this.#dropDone();
  }

  #dropDone(): void {
    const open = this.#file === null ? undefined : this.segments.at(-1);
    const done = this.segments.filter((one) => one.databases.size === 0 && one !== open);
    for (const one of done) {
      this.segments.splice(this.segments.indexOf(one), 1);
      removeIfThere(one.path);
    }
    if (open && open.databases.size === 0 && open.bytes > 0) this.#empty(open);
  }

  /** Whether others than the newest file have rows of the database. */
  isInOlder(databaseId: string): boolean {
    return this.segments.slice(0, -1).some(({ databases }) => databases.has(databaseId));
  }

  /** Whatever the database has in the spool is in the newest file as well. */
  leaveOlder(databaseId: string): void {
    for (const { databases } of this.segments.slice(0, -1)) databases.delete(databaseId);
    this.#dropDone();
  }

  async close(): Promise<void> {
    await this.#syncing;
    this.#abandonFile();
    this.#dropDone();
  }

  #write(bytes: Uint8Array): void {
    const segment = this.#segmentFor(bytes.length);
    const { file } = segment;
    for (let sent = 0; sent < bytes.length;) sent += file.writeSync(bytes.subarray(sent));
    segment.entry.bytes += bytes.length;
  }

  #segmentFor(length: number): { readonly file: Deno.FsFile; readonly entry: Segment } {
    const last = this.segments.at(-1);
    if (this.#file && last && last.bytes + length <= SEGMENT_BYTES) return { file: this.#file, entry: last };
    this.#abandonFile();
    const path = `${this.folder}/log-${this.#next++}.jsonl`;
    const file = Deno.openSync(path, { createNew: true, append: true, mode: 0o600 });
    this.#file = file;
    const entry = { path, bytes: 0, databases: new Set<string>() };
    this.segments.push(entry);
    return { file, entry };
  }

  /** What it holds stays; the next rows begin another one. */
  #abandonFile(): void {
    const file = this.#file;
    this.#file = null;
    // A sync under way still needs it.
    if (file) void Promise.resolve(this.#syncing).then(() => file.close());
  }

  #empty(segment: Segment): void {
    try {
      this.#file?.truncateSync(0);
      segment.bytes = 0;
    } catch {
      this.#abandonFile();
    }
  }

  /** In groups: what is appended during a sync waits for the next append. */
  async #sync(): Promise<void> {
    try {
      await this.#file?.syncData();
    } catch {
      // The rows are in the system's memory; a disk that fails is told by whatever must be on it.
    }
    this.#syncing = null;
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It is gone already, or it is read again at the next start, and its rows are known by their ids.
  }
}
