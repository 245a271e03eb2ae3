// The tenant files that this child holds open: a bounded number, the longest unused one closed first.
import { systemClock } from "../../../core/clock.ts";
import { isId } from "../../../core/ids.ts";
import { TenantFile } from "./tenant_file.ts";

/** Databases open at once in one child; each holds file handles and caches. */
const MAX_OPEN = 64;
/** Milliseconds after which an unused database is closed by the next sweep. */
const IDLE_CLOSE_MS = 30_000;

/** The open files of this child. */
export class OpenFiles {
  readonly #files = new Map<string, TenantFile>();

  constructor(private readonly directory: string) {}

  get(databaseId: string): TenantFile {
    let file = this.#files.get(databaseId);
    if (!file) {
      if (this.#files.size >= MAX_OPEN) this.#closeOldest();
      file = new TenantFile(this.pathOf(databaseId));
      this.#files.set(databaseId, file);
    }
    file.lastUsedMs = systemClock.monotonicMs();
    return file;
  }

  /** `<directory>/<two characters>/<id>.db`: the id is checked, so no text of a caller reaches a path. */
  pathOf(databaseId: string): string {
    if (!isId("db", databaseId)) throw new TypeError("not a database id");
    return `${this.directory}/${databaseId.slice(-2).toLowerCase()}/${databaseId}.db`;
  }

  close(databaseId: string): void {
    this.#files.get(databaseId)?.close();
    this.#files.delete(databaseId);
  }

  /** Closes what has not been used for a while. */
  sweep(): void {
    const limit = systemClock.monotonicMs() - IDLE_CLOSE_MS;
    for (const [id, file] of this.#files) if (file.lastUsedMs < limit) this.close(id);
  }

  closeAll(): void {
    for (const id of [...this.#files.keys()]) this.close(id);
  }

  #closeOldest(): void {
    let oldest: string | null = null;
    let oldestMs = Infinity;
    for (const [id, file] of this.#files) {
      if (file.lastUsedMs < oldestMs) [oldest, oldestMs] = [id, file.lastUsedMs];
    }
    if (oldest !== null) this.close(oldest);
  }
}
