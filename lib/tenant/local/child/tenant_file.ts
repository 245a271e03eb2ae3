// One database's file in this child: a connection that reads and one that writes, each opened when it is first needed,
// and the schema version that each last saw. Older files get the service's tables of this version.
import { systemClock } from "../../../core/clock.ts";
import { Connection } from "../../../engine/connection.ts";
import { type SchemaFacts, schemaFacts } from "../../../engine/schema_facts.ts";
import { fileAt, logBytesAt } from "./file_at.ts";
import { connectWriter, endLog, isAtRest } from "./log_form.ts";
import { heldBy, NARROW_BYTES, sizeCache, WriterCache } from "./page_cache.ts";
import { SeenSchema } from "./seen_schema.ts";
import { isCurrent, upgradeTables } from "./upgrade_tables.ts";

/** A reader checks at most once in so many milliseconds that the path still leads to its file. A writer checks each time. */
const CHECK_MS = 100;
/** Bytes of a write-ahead log up to which a file is closed without folding it in. */
const LEFT_LOG_BYTES = 512 * 1024;

/** The open file of one database. */
export class TenantFile {
  lastUsedMs = 0;
  /** The file that is open (see `fileAt`), its bytes, and when the path last led to it. */
  #opened: string | null = null;
  #bytes = 0;
  #seenMs = -Infinity;
  #reader: Connection | null = null;
  #writer: Connection | null = null;
  #isWide = true;
  /** Whether the reader has found the file at rest. */
  #rests = false;
  /** A writer has been closed and its log not folded in. */
  #leftLog = false;
  readonly #schemaOfReader = new SeenSchema();
  /** What is known of that schema. */
  #factsOfReader: SchemaFacts | null = null;
  readonly #schemaOfWriter = new SeenSchema();

  /** `keepsLog`: closing never folds the log in; `writerCache`: of a file whose transactions end with their frames. */
  constructor(
    readonly path: string,
    readonly keepsLog = false,
    readonly writerCache: WriterCache | null = null,
  ) {}

  /** The connection that reads; a file at rest gets its log first. Throws `FileDamage` when the file is missing or empty. */
  reader(): Connection {
    const reader = this.briefReader();
    if (!this.#rests || reader.database.isTransaction) return reader;
    this.wake();
    return this.briefReader();
  }

  /** The same for reads that end by themselves, which leave a file at rest as it is (`log_form.ts`). */
  briefReader(): Connection {
    if (this.#reader && !this.#reader.database.isTransaction) this.#checkFile(CHECK_MS);
    return this.#reader ??= this.#openReader();
  }

  /** The connection that writes; its work ends with `writerCache.endWork`. Throws `FileDamage` when the file is missing or empty. */
  writer(): Connection {
    if (this.#writer && !this.#writer.database.isTransaction) this.#checkFile(0);
    this.#writer ??= this.#openWriter();
    this.#rests = false;
    this.writerCache?.beginWork(this.#writer, this.#bytes);
    return this.#writer;
  }

  /** The schema version in the reader's open transaction. Forgets cached statements of another version. */
  readerVersion(): number {
    const reader = this.briefReader();
    return this.#schemaOfReader.versionIn(reader, () => this.#factsOfReader = schemaFacts(reader));
  }

  /**
   * Does the work in the reader's open transaction, with what databases of the same schema know of their statements.
   * `readerVersion` has been asked in the same transaction.
   */
  withSharedFacts<T>(work: () => T): T {
    const reader = this.briefReader();
    reader.facts = this.#factsOfReader;
    try {
      return work();
    } finally {
      reader.facts = null;
    }
  }

  /** Whether such reads keep no writer out, in the same transaction: the file has its log, or each is a look-up. */
  mayRead(reads: readonly string[]): boolean {
    if (!this.#rests || reads.every((sql) => this.#factsOfReader?.lookups.get(sql))) return true;
    // Another process may have given it its log.
    return !(this.#rests = isAtRest(this.briefReader()));
  }

  /** That schema as one text, in the same transaction; undefined where it is not shared, or is long. */
  get readerSchema(): string | undefined {
    return this.#factsOfReader?.text;
  }

  /** The schema version in the writer's open transaction. Forgets cached statements of another version. */
  writerVersion(): number {
    const writer = this.writer();
    return this.#schemaOfWriter.versionIn(
      writer,
      () => writer.internalRow("SELECT 1 FROM sqlite_schema LIMIT 1"),
    );
  }

  /** Forgets what is known of the schema, because a transaction that changed it may have been rolled back. */
  forgetVersions(): void {
    this.#writer?.schemaChanged();
    this.#schemaOfWriter.forget();
  }

  /** The most memory that the open connections take, and their file descriptors. */
  get holds(): { readonly bytes: number; readonly descriptors: number } {
    return heldBy({ reader: this.#reader, writer: this.#writer, isWide: this.#isWide }, this.#bytes);
  }

  /** Whether the reader has a large cache, and the file enough pages for it. */
  get isWide(): boolean {
    return this.#isWide && this.#reader !== null && this.#bytes > NARROW_BYTES;
  }

  /** Gives the reader a large cache, or a small one. Not inside of its transaction. Throws what the engine throws. */
  setWide(isWide: boolean): void {
    if (this.#isWide === isWide) return;
    if (this.#reader) sizeCache(this.#reader, isWide);
    this.#isWide = isWide;
  }

  /** Closes the file, which others may have open (`isHeld`); whether its log stays. Only a long one is folded in: two syncs. */
  leave({ isHeld = false } = {}): boolean {
    const wrote = this.#writer !== null || this.#leftLog;
    const logBytes = wrote ? logBytesAt(this.path) : 0;
    const leaves = wrote && logBytes <= LEFT_LOG_BYTES;
    if (leaves && !isHeld) this.#closeWriterFirst();
    else if (wrote && !leaves) this.#openToWrite();
    this.close();
    return leaves && logBytes > 0;
  }

  /** Whether the connection that writes is open. */
  get writes(): boolean {
    return this.#writer !== null;
  }

  /** Closes the connection that writes, if another one is open too. Its log stays beside the file until `leave`. */
  endWriter(): void {
    if (this.#writer === null || this.#reader === null) return;
    this.#closeWriterFirst();
    this.#leftLog = this.#writer === null;
  }

  /** Closes the file; the log is folded in unless others have the file open. */
  close(): void {
    if (this.keepsLog && this.#writer !== null) this.#closeWriterFirst();
    this.#reader?.close();
    this.#writer?.close();
    this.#reader = this.#writer = null;
    this.#schemaOfReader.forget();
    this.#leftLog = false;
    this.#rests = false;
    this.#opened = null;
  }

  /** Closes a file whose log is empty, and puts it to rest. False: others have it open. Throws what the engine throws. */
  rest(): boolean {
    const writer = this.writer();
    this.#reader?.close();
    this.#reader = null;
    try {
      return endLog(writer);
    } finally {
      this.close();
    }
  }

  /** Gives a file at rest its log, if it can have one. */
  wake(): void {
    this.#rests = false;
    this.#openToWrite();
    this.endWriter();
  }

  #openToWrite(): void {
    try {
      this.writer();
    } catch {
      // A file that cannot be written stays as it is, and nobody else writes it either.
    }
  }

  /** The engine folds the log in when the last connection closes, but not if that one only reads. */
  #closeWriterFirst(): void {
    try {
      // Another one may hold the file by now, and an unused connection holds nothing.
      this.reader().internalRow("SELECT 1 FROM sqlite_schema LIMIT 1");
    } catch {
      return;
    }
    this.#writer?.close();
    this.#writer = null;
  }

  /** Closes the connections if the path leads to another file, because writes to a removed file would be lost. */
  #checkFile(everyMs: number): void {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.#seenMs < everyMs) return;
    if (this.#opened !== null) {
      const { id, sizeBytes } = fileAt(this.path);
      if (id !== this.#opened) this.close();
      this.#bytes = sizeBytes;
    }
    this.#seenMs = nowMs;
  }

  #openWriter(): Connection {
    const writer = this.#open(false);
    try {
      upgradeTables(writer);
      return writer;
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  #openReader(): Connection {
    const reader = this.#open(true);
    try {
      if (!this.#isWide) sizeCache(reader, false);
      if (!isCurrent(reader, this.#opened)) this.writer();
      else this.#rests = this.#writer === null && isAtRest(reader);
    } catch {
      // Where the file cannot be written, reads run on the tables as they are.
    }
    return reader;
  }

  #open(readOnly: boolean): Connection {
    // SQLite would make an empty database where the file is missing; `fileAt` throws.
    const { id, sizeBytes } = fileAt(this.path);
    if (this.#opened !== null && this.#opened !== id) this.close();
    this.#opened = id;
    this.#bytes = sizeBytes;
    this.#seenMs = systemClock.monotonicMs();
    return readOnly ? new Connection(this.path, { readOnly: true }) : connectWriter(this.path, this.keepsLog);
  }
}
