// Snapshots of embedded databases: taken and restored by engine children in the write slot, listed and thinned out here.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { Log } from "../../core/log.ts";
import { tryEach } from "../../core/try_each.ts";
import type { RestoreEffect } from "../../sql/branch_report.ts";
import type { RestoreOptions, SnapshotInfo } from "../snapshots.ts";
import type { CopySource, LogIdentity } from "../tenant_store.ts";
import { damagedLabel, type Restored } from "../damage.ts";
import { pruneSnapshots } from "../prune_snapshots.ts";
import { thinDamagedFiles } from "./damaged_files.ts";
import type { DatabaseHost } from "./database_host.ts";
import { removeLeftoverCopies } from "./leftover_copies.ts";
import { listSnapshotFiles, removeSnapshotFile, type SnapshotFile, snapshotName } from "./snapshot_files.ts";
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
  /** Per database the last thinning, and whether it still waits for the one before. */
  readonly #thinning = new Map<string, { waiting: boolean; done: Promise<void> }>();

  constructor(private readonly options: LocalSnapshotsOptions) {}

  async list(databaseId: string): Promise<SnapshotInfo[]> {
    const { kept } = await this.#thinned(databaseId);
    return kept.map(toInfo);
  }

  /** Errors: `slug_taken`. */
  async take(databaseId: string, namespaceId: string, label: string): Promise<SnapshotInfo> {
    if (await this.#find(databaseId, label)) {
      throw new AppError("slug_taken", { message: "Choose another label; a snapshot has this one" });
    }
    const name = snapshotName(this.options.clock.now(), label);
    await this.options.host.task(databaseId, namespaceId, { op: "snapshot", db: databaseId, name }, "write");
    this.thin(databaseId);
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
    this.thin(databaseId);
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
    const { reply } = await this.options.host.task(
      from.databaseId,
      "",
      { op: "copy", db: from.databaseId, snapshot, to, record: wireRecord(from.log, this.options.clock) },
      "write",
    );
    if (reply.t !== "done") throw snapshotError(reply.t);
  }

  /** Drops what is too old or too much, soon. */
  thin(databaseId: string): void {
    // Behind one that is under way: that has looked before the newest one was there.
    const before = this.#thinning.get(databaseId);
    if (before?.waiting) return;
    const entry = { waiting: before !== undefined, done: Promise.resolve() };
    entry.done = this.#thinAfter(databaseId, before?.done, () => {
      entry.waiting = false;
    }).finally(() => {
      if (this.#thinning.get(databaseId) === entry) this.#thinning.delete(databaseId);
    });
    this.#thinning.set(databaseId, entry);
  }

  /** Looks at every database that has snapshots or damaged files. Errors: the first one, when all were tried. */
  async sweep(): Promise<void> {
    const { tenants } = this.options;
    await tryEach(Deno.readDir(tenants), async ({ isDirectory, name }) => {
      if (isDirectory) await this.#sweepFolder(`${tenants}/${name}`);
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#thinning.values()].map((entry) => entry.done));
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
      ...[...databases].map((databaseId) => () => this.#thin(databaseId)),
      ...folders.map((one) => () => removeLeftoverCopies(one, nowMs)),
    ], (work) => work());
  }

  async #thinAfter(databaseId: string, before: Promise<void> | undefined, begins: () => void): Promise<void> {
    await before;
    begins();
    // What is not dropped now is dropped next time, or by a sweep.
    await this.#thin(databaseId).catch(() =>
      this.options.log("warn", "snapshots_not_thinned", { databaseId })
    );
  }

  async #thin(databaseId: string): Promise<void> {
    const folder = snapshotFolder(this.options.tenants, databaseId);
    const { dropped } = await this.#thinned(databaseId);
    await tryEach(dropped, ({ name }) => removeSnapshotFile(folder, name));
    const { clock, keepMs, tenants } = this.options;
    await thinDamagedFiles(damagedFolder(tenants, databaseId), clock.now() - keepMs);
  }

  async #thinned(databaseId: string) {
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

/** An engine child wrote it. */
function parseEffect(text: string): RestoreEffect | null {
  return JSON.parse(text);
}

function toInfo({ label, createdAt, sizeBytes, automatic }: SnapshotFile): SnapshotInfo {
  return { label, createdAt, sizeBytes, automatic };
}
