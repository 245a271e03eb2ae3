// A file of the spool with packs of log rows, each of one database. Those rows are in memory no more, only where each pack is:
// before its record, a JSON text in one line, stands a line with what the service has to know without reading the record.
import { reasonOf } from "../../../core/attempt.ts";
import { isId } from "../../../core/ids.ts";
import type { Log } from "../../../core/log.ts";
import { ENDPOINT_CALL_COLUMNS, LOG_COLUMNS, type LogValues } from "../../log_columns.ts";
import { readRecord, type RowPack } from "../../log/packed_rows.ts";
import { type PackHead, type PackRecords, StoredPack } from "../../log/stored_pack.ts";

/** Bytes that a line before a record has at most. */
const MOST_HEAD_BYTES = 512;
/** Bytes in which the end of a line is sought at a time. */
const SOUGHT_BYTES = 64 * 1024;
const LINE_END = 10;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A pack of one database. */
export interface OwnedPack {
  readonly databaseId: string;
  readonly namespaceId: string;
  readonly pack: StoredPack;
}

/** An open file; the caller closes it. */
export class PackFile implements PackRecords {
  #length = 0;
  #isClosed = false;

  private constructor(
    readonly number: number,
    private readonly file: Deno.FsFile,
    private readonly log: Log,
  ) {}

  /** Throws what the disk throws. */
  static create(path: string, number: number, log: Log): PackFile {
    const file = Deno.openSync(path, { createNew: true, read: true, write: true, mode: 0o600 });
    return new PackFile(number, file, log);
  }

  /** Opens a file that an earlier process has left. */
  static open(path: string, number: number, log: Log): PackFile {
    return new PackFile(number, Deno.openSync(path, { read: true }), log);
  }

  /** Bytes of what is whole. */
  get length(): number {
    return this.#length;
  }

  /** Writes a pack behind the others. Throws what the disk throws; the pack is not in the file then. */
  store(databaseId: string, namespaceId: string, pack: RowPack): StoredPack {
    const record = encoder.encode(`${pack.record}\n`);
    const { width, count, lastId, valueBytes } = pack;
    const head = encoder.encode(
      `${JSON.stringify([databaseId, namespaceId, width, count, lastId, valueBytes, record.length])}\n`,
    );
    this.#write(head, this.#length);
    const offset = this.#length + head.length;
    this.#write(record, offset);
    this.#length = offset + record.length;
    return new StoredPack({ width, count, lastId, valueBytes }, this, offset, record.length);
  }

  /** What the file has, without reading a record. What is damaged takes only its pack with it. Closes one that cannot be read. */
  packs(): OwnedPack[] {
    try {
      return [...this.#packs()];
    } catch (error) {
      this.close();
      throw error;
    }
  }

  *#packs(): Generator<OwnedPack> {
    const { size } = this.file.statSync();
    while (this.#length < size) {
      const start = this.#read(this.#length, MOST_HEAD_BYTES);
      const head = start.subarray(0, Math.max(0, start.indexOf(LINE_END)));
      const found = readHead(decoder.decode(head));
      const offset = this.#length + head.length + 1;
      if (found === null || offset + found.length > size) {
        this.#length = this.#lineEnd(this.#length);
        continue;
      }
      this.#length = offset + found.length;
      const { databaseId, namespaceId } = found;
      yield { databaseId, namespaceId, pack: new StoredPack(found, this, offset, found.length) };
    }
  }

  /** None once it is closed: the next process has them. */
  rows(offset: number, length: number): LogValues[] {
    if (this.#isClosed) return [];
    try {
      return readRecord(decoder.decode(this.#read(offset, length)));
    } catch (error) {
      this.log("warn", "log_rows_not_read", { reason: reasonOf(error) });
      return [];
    }
  }

  async syncData(): Promise<void> {
    await this.file.syncData();
  }

  close(): void {
    this.#isClosed = true;
    this.file.close();
  }

  /** Where the line after the one at `offset` begins. */
  #lineEnd(offset: number): number {
    for (let from = offset;;) {
      const bytes = this.#read(from, SOUGHT_BYTES);
      const end = bytes.indexOf(LINE_END);
      if (end >= 0) return from + end + 1;
      from += bytes.length;
      if (bytes.length < SOUGHT_BYTES) return from;
    }
  }

  #write(bytes: Uint8Array, offset: number): void {
    this.file.seekSync(offset, Deno.SeekMode.Start);
    for (let sent = 0; sent < bytes.length;) sent += this.file.writeSync(bytes.subarray(sent));
  }

  /** Fewer bytes where the file ends. */
  #read(offset: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    this.file.seekSync(offset, Deno.SeekMode.Start);
    for (let got = 0; got < length;) {
      const more = this.file.readSync(bytes.subarray(got));
      if (more === null) return bytes.subarray(0, got);
      got += more;
    }
    return bytes;
  }
}

type Head = PackHead & Omit<OwnedPack, "pack"> & {
  /** Bytes of the record. */
  readonly length: number;
};

function readHead(line: string): Head | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(parsed)) return null;
  const [databaseId, namespaceId, width, count, lastId, valueBytes, length]: unknown[] = parsed;
  if (typeof databaseId !== "string" || !isId("db", databaseId) || typeof namespaceId !== "string") {
    return null;
  }
  if (width !== LOG_COLUMNS && width !== ENDPOINT_CALL_COLUMNS || typeof lastId !== "string") return null;
  if (!isCount(count) || !isCount(valueBytes) || !isCount(length)) return null;
  return { databaseId, namespaceId, width, count, lastId, valueBytes, length };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}
