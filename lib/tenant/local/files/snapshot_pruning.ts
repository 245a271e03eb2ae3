// Deletes snapshots of embedded databases that are too old or too many, damaged files that restores have set aside, and
// what ended children left behind.
import { reasonOf } from "../../../core/attempt.ts";
import type { Clock } from "../../../core/clock.ts";
import { isId } from "../../../core/ids.ts";
import type { Log } from "../../../core/log.ts";
import { tryEach } from "../../../core/try_each.ts";
import { pruneSnapshots } from "../../snapshots.ts";
import {
  listSnapshotFiles,
  pruneDamagedFiles,
  removeLeftoverCopies,
  removeSnapshotFile,
  type SnapshotFile,
} from "./snapshot_files.ts";
import { damagedFolder, snapshotFolder } from "./tenant_paths.ts";

/** Where snapshots are, and how long they stay. */
export interface SnapshotPruningOptions {
  readonly tenants: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds that a snapshot is kept. */
  readonly keepMs: number;
}

/** The pruning of all databases' snapshots. */
export class SnapshotPruning {
  /** The last pruning of each database, and whether it still waits for the one before. */
  readonly #pruning = new Map<string, { waiting: boolean; done: Promise<void> }>();

  constructor(private readonly options: SnapshotPruningOptions) {}

  /** The snapshots that stay, newest first. */
  async kept(databaseId: string): Promise<SnapshotFile[]> {
    return (await this.#pruned(databaseId)).kept;
  }

  /** Soon deletes snapshots that are too old or too many. */
  prune(databaseId: string): void {
    // A pruning under way may have listed the snapshots before the newest one was there, so this one follows it.
    const before = this.#pruning.get(databaseId);
    if (before?.waiting) return;
    const entry = { waiting: before !== undefined, done: Promise.resolve() };
    entry.done = this.#pruneAfter(databaseId, before?.done, () => {
      entry.waiting = false;
    }).finally(() => {
      if (this.#pruning.get(databaseId) === entry) this.#pruning.delete(databaseId);
    });
    this.#pruning.set(databaseId, entry);
  }

  /** Prunes every database that has snapshots or damaged files. Errors: the first one, after all were tried. */
  async sweep(): Promise<void> {
    const { tenants } = this.options;
    await tryEach(Deno.readDir(tenants), async ({ isDirectory, name }) => {
      if (isDirectory) await this.#sweepFolder(`${tenants}/${name}`);
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pruning.values()].map((entry) => entry.done));
  }

  async #sweepFolder(folder: string): Promise<void> {
    const nowMs = this.options.clock.now();
    const databases = new Set<string>();
    const folders = [folder];
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const databaseId = name.replace(/\.(?:snapshots|damaged)$/, "");
      if (!isDirectory || databaseId === name || !isId("db", databaseId)) continue;
      databases.add(databaseId);
      if (name.endsWith(".snapshots")) folders.push(`${folder}/${name}`);
    }
    await tryEach([
      ...[...databases].map((databaseId) => () => this.#prune(databaseId)),
      ...folders.map((one) => () => removeLeftoverCopies(one, nowMs)),
    ], (work) => work());
  }

  async #pruneAfter(
    databaseId: string,
    before: Promise<void> | undefined,
    begins: () => void,
  ): Promise<void> {
    await before;
    begins();
    // The next pruning or sweep deletes what this one does not.
    await this.#prune(databaseId).catch((error) =>
      this.options.log("warn", "snapshots_not_pruned", { databaseId, reason: reasonOf(error) })
    );
  }

  async #prune(databaseId: string): Promise<void> {
    const folder = snapshotFolder(this.options.tenants, databaseId);
    const { dropped } = await this.#pruned(databaseId);
    await tryEach(dropped, ({ name }) => removeSnapshotFile(folder, name));
    const { clock, keepMs, tenants } = this.options;
    await pruneDamagedFiles(damagedFolder(tenants, databaseId), clock.now() - keepMs);
  }

  async #pruned(databaseId: string) {
    const { clock, keepMs } = this.options;
    const files = await listSnapshotFiles(snapshotFolder(this.options.tenants, databaseId));
    return pruneSnapshots(files, { nowMs: clock.now(), keepMs });
  }
}
