// Copies the file of a database before the write slot is taken, so that only the copy of its write-ahead log needs the
// slot. The service copies, so that no child waits.
import type { Clock } from "../../core/clock.ts";
import { EARLY_BYTES, type EarlyCopy, earlyState, isOneState } from "./child/early_copy.ts";
import { stagedCopy } from "./child/file_copy.ts";
import { databasePath, folderOf, removeIfThere, sizeOf, syncPath } from "./tenant_paths.ts";

/** Copies of a file whose log keeps beginning again; after that it is copied in the write slot. */
const TRIES = 3;

/** The part of a request that tells what was copied; empty where the child has to copy everything. */
export type EarlyPart = { readonly early?: EarlyCopy };

/** The early copies under way. */
export class EarlyCopies {
  /** Of each database, what has to end before the next copy begins. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(private readonly tenants: string, private readonly clock: Clock) {}

  /** Copies the file of a database for the copy `target`, and does the work that completes it. */
  async run<T>(databaseId: string, target: string, work: (early: EarlyPart) => Promise<T>): Promise<T> {
    const path = databasePath(this.tenants, databaseId);
    if (await sizeOf(path) < EARLY_BYTES) return await work({});
    const before = this.#last.get(databaseId);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(databaseId, promise);
    try {
      await before;
      return await work(await this.#copy(path, stagedCopy(target)));
    } finally {
      await removeIfThere(stagedCopy(target)).catch(() => {});
      if (this.#last.get(databaseId) === promise) this.#last.delete(databaseId);
      resolve();
    }
  }

  /**
   * Copies again where the log has begun again meanwhile, as it does every few megabytes. A copy that fails is left to the
   * child, whose failure says why.
   */
  async #copy(path: string, staged: string): Promise<EarlyPart> {
    try {
      await Deno.mkdir(folderOf(staged), { recursive: true, mode: 0o700 });
      await removeIfThere(staged);
      for (let tries = 0; tries < TRIES; tries++) {
        const early = earlyState(path, this.clock.now());
        await Deno.copyFile(path, staged);
        await syncPath(staged);
        if (isOneState(early, path, this.clock.now())) return { early };
      }
    } catch {
      // As below.
    }
    return {};
  }
}
