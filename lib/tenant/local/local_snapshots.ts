// Snapshots of embedded databases. Engine children take and restore them in the write slot; this file lists and prunes
// them.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { Log } from "../../core/log.ts";
import { tryEach } from "../../core/try_each.ts";
import type { RestoreEffect } from "../../sql/branch_report.ts";
import { pruneSnapshots, type RestoreOptions, type SnapshotInfo } from "../snapshots.ts";
import type { CopySource, LogIdentity } from "../tenant_store.ts";
import { damagedLabel, type Restored } from "../damage.ts";
import type { DatabaseHost } from "./database_host.ts";
import {
  listSnapshotFiles,
  pruneDamagedFiles,
  removeLeftoverCopies,
  removeSnapshotFile,
  type SnapshotFile,
  snapshotName,
} from "./snapshot_files.ts";
import { damagedFolder, snapshotFolder } from "./tenant_paths.ts";
import { wireRecord } from "./wire.ts";

/** What this needs of the store. */
export interface LocalSnapshotsOptions {
  readonly host: DatabaseHost;
  readonly tenants: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds that a snapshot is kept. */
  readonly keepMs: number;
}

/** The snapshots of this store. */
export class LocalSnapshots {
  /** The last pruning of each database, and whether it still waits for the one before. */
  readonly #pruning = new Map<string, { waiting: boolean; done: Promise<void> }>();

  constructor(private readonly options: LocalSnapshotsOptions) {}

  async list(databaseId: string): Promise<SnapshotInfo[]> {
    const { kept } = await this.#pruned(databaseId);
    return kept.map(toInfo);
  }

  /** Errors: `slug_taken`. */
  async take(databaseId: string, namespaceId: string, label: string): Promise<SnapshotInfo> {
    if (await this.#find(databaseId, label)) {
      throw new AppError("slug_taken", { message: "Choose another label; a snapshot has this one" });
    }
    const name = snapshotName(this.options.clock.now(), label);
    const { host } = this.options;
    await host.flushLog(host.lanes(databaseId, namespaceId));
    await host.task(databaseId, namespaceId, { op: "snapshot", db: databaseId, name }, "write");
    this.prune(databaseId);
    const taken = await this.#find(databaseId, label);
    if (!taken) throw new AppError("store_unavailable");
    return toInfo(taken);
  }

  /** Errors: those of `TenantDatabase.restore`. */
  async restore(
    databaseId: string,
    namespaceId: string,
    how: RestoreOptions<LogIdentity> & { readonly label: string },
  ): Promise<Restored> {
    const snapshot = await this.#require(databaseId, how.label);
    const { clock, host } = this.options;
    const nowMs = clock.now();
    const { reply } = await host.exclusively(databaseId, namespaceId, {
      op: "restore",
      db: databaseId,
      snapshot: snapshot.name,
      nowMs,
      undo: snapshotName(nowMs, how.undoLabel),
      aside: damagedLabel(nowMs),
      suspect: host.states.isReported(databaseId),
      record: wireRecord(how.log, clock),
      expects: how.expects ?? null,
    });
    if (reply.t !== "restored") throw snapshotError(reply.t);
    host.states.forget(databaseId);
    this.prune(databaseId);
    return { undo: reply.undo, setAside: reply.setAside };
  }

  /** For the write slot. Null: the present state cannot be read. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  async compare(databaseId: string, namespaceId: string, label: string): Promise<RestoreEffect | null> {
    const { name } = await this.#require(databaseId, label);
    const { host } = this.options;
    const suspect = host.states.isReported(databaseId);
    const request = { op: "compare_snapshot", db: databaseId, snapshot: name, suspect } as const;
    const { reply, text } = await host.task(databaseId, namespaceId, request, "write");
    if (reply.t !== "restore_effect") throw snapshotError(reply.t);
    return parseEffect(text);
  }

  /** Copies a database into storage of its own. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  async copy(from: CopySource, to: string): Promise<void> {
    const snapshot = from.snapshot === null
      ? null
      : (await this.#require(from.databaseId, from.snapshot)).name;
    const { host } = this.options;
    await host.flushLog(host.lanes(from.databaseId, ""));
    const { reply } = await host.task(
      from.databaseId,
      "",
      { op: "copy", db: from.databaseId, snapshot, to, record: wireRecord(from.log, this.options.clock) },
      "write",
    );
    if (reply.t !== "done") throw snapshotError(reply.t);
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

  /** Removes the snapshot that a transaction took and then did not need; the next pruning removes one that stays. */
  dropUnused(databaseId: string, name: string): Promise<void> {
    return removeSnapshotFile(snapshotFolder(this.options.tenants, databaseId), name).catch(() =>
      this.options.log("warn", "snapshots_not_pruned", { databaseId })
    );
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
    await this.#prune(databaseId).catch(() =>
      this.options.log("warn", "snapshots_not_pruned", { databaseId })
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
    return pruneSnapshots(await this.#files(databaseId), { nowMs: clock.now(), keepMs });
  }

  #files(databaseId: string): Promise<SnapshotFile[]> {
    return listSnapshotFiles(snapshotFolder(this.options.tenants, databaseId));
  }

  async #find(databaseId: string, label: string): Promise<SnapshotFile | undefined> {
    return (await this.#files(databaseId)).find((one) => one.label === label);
  }

  async #require(databaseId: string, label: string): Promise<SnapshotFile> {
    const found = await this.#find(databaseId, label);
    if (!found) throw new AppError("snapshot_not_found");
    return found;
  }
}

function snapshotError(outcome: string): AppError {
  if (outcome === "changed") return new AppError("effect_changed");
  if (outcome === "missing") return new AppError("snapshot_not_found");
  return new AppError(outcome === "damaged" ? "snapshot_corrupt" : "store_unavailable");
}

/** Guarantee: an engine child wrote the effect. */
function parseEffect(text: string): RestoreEffect | null {
  return JSON.parse(text);
}

function toInfo({ label, createdAt, sizeBytes, automatic }: SnapshotFile): SnapshotInfo {
  return { label, createdAt, sizeBytes, automatic };
}
