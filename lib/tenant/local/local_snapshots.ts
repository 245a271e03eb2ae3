// Snapshots of embedded databases: the service copies them, and engine children restore them in the write slot.
import type { DatabaseIds } from "../../core/database_ids.ts";
import type { CopySource } from "../copy_source.ts";
import { reasonOf } from "../../core/attempt.ts";
import { AppError } from "../../core/errors.ts";
import type { RestoreEffect } from "../../sql/service/branch_report.ts";
import type { RestoreOptions, SnapshotInfo } from "../snapshots.ts";
import type { DatabaseFiles } from "../database_files.ts";
import type { LogIdentity } from "../tenant_store.ts";
import { damagedLabel, type Restored } from "../damage.ts";
import type { DatabaseRequest } from "./child/protocol.ts";
import type { DatabaseHost } from "./database_host.ts";
import type { ReplyFrame } from "./frames/reply_frames.ts";
import {
  adoptFile,
  listSnapshotFiles,
  removeSnapshotFile,
  type SnapshotFile,
  snapshotName,
} from "./files/snapshot_files.ts";
import { SnapshotPruning, type SnapshotPruningOptions } from "./files/snapshot_pruning.ts";
import { EarlyCopies, type EarlyPart } from "./files/early_copies.ts";
import { databasePath, snapshotFolder } from "./files/tenant_paths.ts";
import { wireRecord } from "./frames/wire.ts";

/** What this needs of the store. */
export interface LocalSnapshotsOptions extends SnapshotPruningOptions {
  readonly host: DatabaseHost;
  readonly scratch: string;
}

/** The snapshots of this store. */
export class LocalSnapshots implements DatabaseFiles {
  readonly scratch: string;
  readonly pruning: SnapshotPruning;
  readonly #early: EarlyCopies;
  /** `<database> <label>` of snapshots that are being taken, which no list has yet. */
  readonly #taking = new Set<string>();

  constructor(private readonly options: LocalSnapshotsOptions) {
    this.scratch = options.scratch;
    this.pruning = new SnapshotPruning(options);
    this.#early = new EarlyCopies(options.tenants, options.clock);
  }

  /** Errors: `store_unavailable` where their folder cannot be read. */
  async list(databaseId: string): Promise<SnapshotInfo[]> {
    return (await this.#read(databaseId, this.pruning.kept(databaseId))).map(toInfo);
  }

  /** Errors: `slug_taken`. */
  async take(database: DatabaseIds, label: string): Promise<SnapshotInfo> {
    const key = `${database.databaseId} ${label}`;
    if (this.#taking.has(key)) throw labelTaken();
    this.#taking.add(key);
    try {
      return await this.#take(database, label);
    } finally {
      this.#taking.delete(key);
    }
  }

  async #take(database: DatabaseIds, label: string): Promise<SnapshotInfo> {
    const { databaseId } = database;
    if (await this.#find(databaseId, label)) throw labelTaken();
    const name = snapshotName(this.options.clock.now(), label);
    await this.#flushLog(database);
    await this.copyWhole(
      database,
      `${snapshotFolder(this.options.tenants, databaseId)}/${name}.db`,
      (early) => ({ op: "snapshot", db: databaseId, name, ...early }),
    );
    return await this.#taken(databaseId, label);
  }

  /** See `DatabaseFiles.adopt`. */
  async adopt(databaseId: string, path: string, label: string): Promise<SnapshotInfo> {
    if (await this.#find(databaseId, label)) throw labelTaken();
    const folder = snapshotFolder(this.options.tenants, databaseId);
    await adoptFile(path, `${folder}/${snapshotName(this.options.clock.now(), label)}.db`);
    return await this.#taken(databaseId, label);
  }

  /**
   * Does the work that takes the snapshot `name`, after the database's file has been copied as far as that needs no write
   * slot. One at a time of a database, because a copy needs room.
   */
  withEarly<T>(databaseId: string, name: string, work: (early: EarlyPart) => Promise<T>): Promise<T> {
    const target = `${snapshotFolder(this.options.tenants, databaseId)}/${name}.db`;
    return this.#early.run(databaseId, target, work);
  }

  /**
   * Copies the present state of a database to `target`: without its write slot, or by a request that needs the slot. Null:
   * nothing was asked. Errors: those of reading the schema.
   */
  async copyWhole(
    { databaseId, namespaceId }: DatabaseIds,
    target: string,
    request: (early: EarlyPart) => DatabaseRequest,
  ): Promise<ReplyFrame | null> {
    const { host } = this.options;
    // A damaged file is found here, and not by whoever restores the copy.
    await host.task({ op: "schema", db: databaseId }, "read", namespaceId);
    return await this.#early.whole(
      databaseId,
      target,
      (early) => host.task(request(early), "write", namespaceId),
    );
  }

  /** Removes a snapshot; it may be gone. */
  async forget(databaseId: string, label: string): Promise<void> {
    const found = await this.#find(databaseId, label);
    const folder = snapshotFolder(this.options.tenants, databaseId);
    if (found) await removeSnapshotFile(folder, found.name);
  }

  /** Errors: those of `TenantDatabase.restore`. */
  async restore(
    { databaseId, namespaceId }: DatabaseIds,
    how: RestoreOptions<LogIdentity> & { readonly label: string },
  ): Promise<Restored> {
    const snapshot = await this.#require(databaseId, how.label);
    const { clock, host } = this.options;
    const nowMs = clock.now();
    const { reply } = await host.exclusively({
      op: "restore",
      db: databaseId,
      snapshot: snapshot.name,
      nowMs,
      undo: snapshotName(nowMs, how.undoLabel),
      aside: damagedLabel(nowMs),
      suspect: host.states.isReported(databaseId),
      record: wireRecord(how.log, clock, how.rowsWritten),
      replay: how.replay ?? null,
      expects: how.expects ?? null,
    }, namespaceId);
    if (reply.t !== "restored") throw snapshotError(reply.t);
    host.states.forget(databaseId);
    this.pruning.prune(databaseId);
    return { undo: reply.undo, setAside: reply.setAside };
  }

  /** For the write slot. Null: the present state cannot be read. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  async compare({ databaseId, namespaceId }: DatabaseIds, label: string): Promise<RestoreEffect | null> {
    const { name } = await this.#require(databaseId, label);
    const { host } = this.options;
    const suspect = host.states.isReported(databaseId);
    const request = { op: "compare_snapshot", db: databaseId, snapshot: name, suspect } as const;
    const { reply, text } = await host.task(request, "write", namespaceId);
    if (reply.t !== "restore_effect") throw snapshotError(reply.t);
    return parseEffect(text);
  }

  /** Copies a database into storage of its own. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  async copy(from: CopySource<LogIdentity>, to: string): Promise<void> {
    const snapshot = from.snapshot === null
      ? null
      : (await this.#require(from.databaseId, from.snapshot)).name;
    const { host, clock } = this.options;
    const startedMs = clock.monotonicMs();
    const source = from.databaseId;
    await this.#flushLog({ databaseId: source, namespaceId: "" });
    const request = { op: "copy", db: source, snapshot, to } as const;
    const target = databasePath(this.options.tenants, to);
    const answered = snapshot === null
      ? await this.copyWhole(
        { databaseId: source, namespaceId: "" },
        target,
        (early) => ({ ...request, ...early }),
      )
      : await host.task(request, "read", "");
    if (answered !== null && answered.reply.t !== "done") throw snapshotError(answered.reply.t);
    const ms = clock.monotonicMs() - startedMs;
    const record = wireRecord(from.log, clock);
    const begun = { op: "begin_history", db: to, record, ms, check: snapshot !== null } as const;
    const made = await host.task(begun, "write", "");
    if (made.reply.t !== "done") throw snapshotError(made.reply.t);
  }

  /** Removes the snapshot that a transaction took and then did not need; the next pruning removes one that stays. */
  dropUnused(databaseId: string, name: string): Promise<void> {
    return removeSnapshotFile(snapshotFolder(this.options.tenants, databaseId), name).catch((error) =>
      this.options.log("warn", "snapshots_not_pruned", { databaseId, reason: reasonOf(error) })
    );
  }

  /** A transaction that holds the write slot would have to give it up for rows of the log. */
  async #flushLog(database: DatabaseIds): Promise<void> {
    const { host } = this.options;
    const lanes = host.lanes(database);
    if (lanes.writes.lease === null) await host.flushLog(lanes);
  }

  async #find(databaseId: string, label: string): Promise<SnapshotFile | undefined> {
    const listing = listSnapshotFiles(snapshotFolder(this.options.tenants, databaseId));
    return (await this.#read(databaseId, listing)).find((one) => one.label === label);
  }

  /** Tells the log of a folder that cannot be read, such as one of another user. Errors: `store_unavailable`. */
  async #read(databaseId: string, listing: Promise<SnapshotFile[]>): Promise<SnapshotFile[]> {
    try {
      return await listing;
    } catch (error) {
      this.options.log("warn", "snapshots_unavailable", { databaseId, reason: reasonOf(error) });
      throw new AppError("store_unavailable");
    }
  }

  async #taken(databaseId: string, label: string): Promise<SnapshotInfo> {
    this.pruning.prune(databaseId);
    const taken = await this.#find(databaseId, label);
    if (!taken) throw new AppError("store_unavailable");
    return toInfo(taken);
  }

  async #require(databaseId: string, label: string): Promise<SnapshotFile> {
    const found = await this.#find(databaseId, label);
    if (!found) throw new AppError("snapshot_not_found");
    return found;
  }
}

function labelTaken(): AppError {
  return new AppError("slug_taken", { message: "Choose another label; a snapshot has this one" });
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
