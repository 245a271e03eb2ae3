// The tenant files that this child holds open: as many as its memory and its file descriptors allow, the longest unused
// one closed first, once the call that opened another has been answered.
import { systemClock } from "../../../core/clock.ts";
import { isId } from "../../../core/ids.ts";
import { WriterCache } from "./page_cache.ts";
import { TenantFile } from "./tenant_file.ts";

/** Databases that stay open whatever they hold. */
const LEAST_OPEN = 64;
/** Milliseconds after which an unused database is closed by the next sweep. */
const IDLE_CLOSE_MS = 30_000;
/** Logs that a sweep folds into their files; each takes some milliseconds, in which nobody else is served. */
const FOLDS_AT_ONCE = 8;
/** Logs that are folded in at the end of this process; others are read with their files. */
const FOLDS_AT_END = 64;
/** Uses of an open file after which it may cache more of its pages. */
const WIDE_USES = 64;
/** The most files with a short log that are remembered. */
const MAX_LEFT = 10_000;
/** Descriptors that are left for everything else. */
const OTHER_DESCRIPTORS = 64;

/** The bounds of what is held open. */
export interface OpenBounds {
  readonly bytes: number;
  /** File descriptors that this process may have. */
  readonly descriptors: number;
  /** Write-ahead logs are folded in when the service says so, never by closing a file. */
  readonly keepsLogs?: boolean;
}

/** What one open file counts. */
interface Held {
  readonly file: TenantFile;
  bytes: number;
  descriptors: number;
  /** Uses since it was opened, or since its cache was made small. */
  uses: number;
}

/** The open files of this child. */
export class OpenFiles {
  /** The longest unused one first. */
  readonly #files = new Map<string, Held>();
  readonly #touched = new Set<string>();
  /** Those with a large cache of pages, the longest unused one first. */
  readonly #wide = new Set<string>();
  /** Closed files with a log beside them, which somebody who copies or replaces a file may overlook. */
  readonly #left = new Set<string>();
  #bytes = 0;
  #descriptors = OTHER_DESCRIPTORS;

  constructor(private readonly directory: string, private readonly bounds: OpenBounds) {}

  get(databaseId: string): TenantFile {
    const held = this.#files.get(databaseId) ?? this.#open(databaseId);
    held.uses++;
    this.#files.delete(databaseId);
    this.#files.set(databaseId, held);
    this.#touched.add(databaseId);
    this.#left.delete(databaseId);
    held.file.lastUsedMs = systemClock.monotonicMs();
    return held.file;
  }

  #open(databaseId: string): Held {
    const file = this.make(databaseId, new WriterCache());
    file.setWide(false);
    return { file, bytes: 0, descriptors: 0, uses: 0 };
  }

  /** Whether so much is open that a second connection to a file takes the place of others. */
  get isTight(): boolean {
    return this.#bytes > this.bounds.bytes / 2;
  }

  /** `<directory>/<two characters>/<id>.db`: the id is checked, so no text of a caller reaches a path. */
  pathOf(databaseId: string): string {
    if (!isId("db", databaseId)) throw new TypeError("not a database id");
    return `${this.directory}/${databaseId.slice(-2).toLowerCase()}/${databaseId}.db`;
  }

  /** Where a transfer finds its copy of a database. */
  transferCopy(transferId: string): string {
    if (!isId("exp", transferId)) throw new TypeError("not the id of an export");
    return `${this.directory}/transfers/${transferId}/copy.sqlite`;
  }

  /** A file of its own for whoever closes it. */
  make(databaseId: string, writerCache: WriterCache | null = null): TenantFile {
    return new TenantFile(this.pathOf(databaseId), this.bounds.keepsLogs ?? false, writerCache);
  }

  close(databaseId: string): void {
    // Whoever asks for that may be about to replace the file.
    this.#left.delete(databaseId);
    this.#take(databaseId)?.close();
  }

  /** Closes a file that another process has open: its log stays beside it. */
  leaveHeld(databaseId: string): void {
    this.#leave(databaseId, { isHeld: true });
  }

  /** Between two frames: makes caches smaller, and then closes what is still beyond the bounds. */
  settle(): void {
    for (const databaseId of this.#touched) {
      this.#files.get(databaseId)?.file.writerCache?.endWork();
      this.#widen(databaseId);
      this.#weigh(databaseId);
    }
    this.#touched.clear();
    for (const databaseId of this.#wide) {
      if (this.#files.size <= LEAST_OPEN || this.#bytes <= this.bounds.bytes) break;
      this.#narrow(databaseId);
    }
    for (const databaseId of this.#files.keys()) {
      if (this.#files.size <= LEAST_OPEN && this.#descriptors <= this.bounds.descriptors) return;
      if (this.#bytes <= this.bounds.bytes && this.#descriptors <= this.bounds.descriptors) return;
      this.#leave(databaseId);
    }
  }

  /** Closes what has not been used for a while, and folds some logs in. */
  sweep(): void {
    const limit = systemClock.monotonicMs() - IDLE_CLOSE_MS;
    for (const [id, { file }] of this.#files) {
      if (file.lastUsedMs >= limit) break;
      this.#leave(id);
    }
    for (const id of [...this.#left].slice(0, FOLDS_AT_ONCE)) this.#fold(id);
  }

  closeAll(): void {
    for (const id of [...this.#files.keys()]) this.#leave(id);
    for (const id of [...this.#left].slice(-FOLDS_AT_END)) this.#fold(id);
  }

  #leave(databaseId: string, options?: { readonly isHeld: boolean }): void {
    try {
      if (this.#take(databaseId)?.leave(options) && this.#left.size < MAX_LEFT) this.#left.add(databaseId);
    } catch {
      // A failure of the disk: what was answered is in the log, and whoever opens the file next meets it.
    }
  }

  #fold(databaseId: string): void {
    this.#left.delete(databaseId);
    if (this.bounds.keepsLogs) return;
    const file = this.make(databaseId);
    try {
      file.writer();
      file.close();
    } catch {
      // It is gone, or is not to be written: the log stays with it.
    }
  }

  /** A file that is used much gets a large cache; others that had one for long lose theirs where there is no room. */
  #widen(databaseId: string): void {
    const held = this.#files.get(databaseId);
    if (!held || held.uses < WIDE_USES) return;
    setWide(held.file, true);
    this.#wide.delete(databaseId);
    if (held.file.isWide) this.#wide.add(databaseId);
  }

  #narrow(databaseId: string): void {
    this.#wide.delete(databaseId);
    const held = this.#files.get(databaseId);
    if (!held) return;
    held.uses = 0;
    setWide(held.file, false);
    this.#weigh(databaseId);
  }

  #weigh(databaseId: string): void {
    const held = this.#files.get(databaseId);
    if (!held) return;
    const { bytes, descriptors } = held.file.holds;
    this.#bytes += bytes - held.bytes;
    this.#descriptors += descriptors - held.descriptors;
    held.bytes = bytes;
    held.descriptors = descriptors;
  }

  #take(databaseId: string): TenantFile | undefined {
    const held = this.#files.get(databaseId);
    if (!held) return undefined;
    this.#files.delete(databaseId);
    this.#wide.delete(databaseId);
    this.#bytes -= held.bytes;
    this.#descriptors -= held.descriptors;
    return held.file;
  }
}

function setWide(file: TenantFile, isWide: boolean): void {
  try {
    file.setWide(isWide);
  } catch {
    // Damage, or a failure of the disk: whoever reads the file next meets it.
  }
}
