// Copies a database without its write slot, or its file before the slot is taken, so that only the copy of its write-ahead
// log needs the slot. The service copies, so that no child waits.
import type { Clock } from "../../../core/clock.ts";
import { InTurn } from "../../../core/in_turn.ts";
import { EARLY_BYTES, type EarlyCopy, earlyState, isOneState, logGeneration } from "../child/early_copy.ts";
import { stagedCopy } from "../child/file_copy.ts";
import { trimLog } from "../../log_length.ts";
import { folderOf } from "../../../core/folder_of.ts";
import { databasePath, sizeOf, syncPath } from "./tenant_paths.ts";
import { removeIfThere } from "../../../store/if_there.ts";

/** Copies of a file whose log keeps beginning again; after that it is copied in the write slot. */
const TRIES = 3;

/** The part of a request that tells what was copied; empty where the child has to copy everything. */
export type EarlyPart = { readonly early?: EarlyCopy };

/** The early copies under way. */
export class EarlyCopies {
  /** By database. */
  readonly #turns = new InTurn();

  constructor(private readonly tenants: string, private readonly clock: Clock) {}

  /** Copies the file of a database for the copy `target`, and does the work that completes it. */
  async run<T>(databaseId: string, target: string, work: (early: EarlyPart) => Promise<T>): Promise<T> {
    const path = databasePath(this.tenants, databaseId);
    if (await sizeOf(path) < EARLY_BYTES) return await work({});
    return await this.#inTurn(databaseId, target, async () => await work(await this.#early(path, target)));
  }

  /**
   * Makes the whole copy `target`, or has it made by `inSlot` where writers keep the log beginning again. Null: it was made
   * without the slot.
   */
  async whole<T>(
    databaseId: string,
    target: string,
    inSlot: (early: EarlyPart) => Promise<T>,
  ): Promise<T | null> {
    const path = databasePath(this.tenants, databaseId);
    return await this.#inTurn(databaseId, target, async () => {
      const early = await this.#copyAll(path, target);
      return early === "whole" ? null : await inSlot(early);
    });
  }

  #inTurn<T>(databaseId: string, target: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(databaseId, async () => {
      try {
        return await work();
      } finally {
        await removeIfThere(stagedCopy(target)).catch(() => {});
      }
    });
  }

  /**
   * Copies again where the log has begun again meanwhile, as it does every few megabytes. A copy that fails is left to the
   * child, whose failure says why.
   */
  async #early(path: string, target: string): Promise<EarlyPart> {
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const early = earlyState(path, this.clock.now());
        await copyFile(path, stagedCopy(target));
        if (isOneState(early, path, this.clock.now())) return { early };
      }
    } catch {
      // As below.
    }
    return {};
  }

  /**
   * The file first, then the log, which only grows until it begins again: together they are one state, that of a moment
   * while the log was copied. What a copied log has of a transaction without its end counts for nothing. Where this does not
   * hold, the file alone may.
   */
  async #copyAll(path: string, target: string): Promise<EarlyPart | "whole"> {
    const [staged, log] = [stagedCopy(target), `${target}-wal`];
    let part: EarlyPart = {};
    let isPlaced = false;
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        part = {};
        const early = earlyState(path, this.clock.now());
        // Nothing could tell whether the file changes.
        if (early.log === "" && early.content === null) break;
        await copyFile(path, staged);
        const generation = logGeneration(path);
        if (!isOneState(early, path, this.clock.now())) continue;
        part = { early };
        await removeIfThere(log);
        if (generation !== "") await copyFile(`${path}-wal`, log, trimLog);
        const isSame = generation === logGeneration(path);
        if (!isSame || !isOneState(early, path, this.clock.now())) continue;
        await Deno.rename(staged, target);
        isPlaced = true;
        await syncPath(folderOf(target));
        return "whole";
      }
    } catch {
      // As above.
    }
    // Without its log the file would be a state of before, and be listed as this one.
    for (const made of isPlaced ? [target, log] : [log]) await removeIfThere(made).catch(() => {});
    return part;
  }
}

async function copyFile(
  from: string,
  to: string,
  complete: (path: string) => void = () => {},
): Promise<void> {
  await Deno.mkdir(folderOf(to), { recursive: true, mode: 0o700 });
  await removeIfThere(to);
  await Deno.copyFile(from, to);
  complete(to);
  await syncPath(to);
}
