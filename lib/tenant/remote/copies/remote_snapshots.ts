// Snapshots of remote databases: copies in locations of their own, listed in the catalogue.
import { DAY_MS } from "../../../core/clock.ts";
import type { CopySource } from "../../copy_source.ts";
import { AppError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { RestoreEffect } from "../../../sql/service/branch_report.ts";
import { pruneSnapshots, type RestoreOptions, type SnapshotInfo } from "../../snapshots.ts";
import type { LogIdentity } from "../../tenant_store.ts";
import type { Restored } from "../../damage.ts";
import { forgetRecords, recordRestore } from "./carry_records.ts";
import type { Catalog, CatalogSnapshot } from "../locations/catalog.ts";
import { requireDatabase } from "../locations/claims.ts";
import { compareRestore } from "./compare_restore.ts";
import { locationOf, sizeOfLocation } from "../locations/locations.ts";
import { copied, type LocationKeeper } from "../locations/location_keeper.ts";
import { Stopped } from "../hrana/deadline.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import type { RemoteContext } from "../server/remote_context.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { AUTOMATIC, insertSnapshot, runRestore } from "./run_restore.ts";

const SAME_MOMENT = "Try again; another instance took a snapshot of the database in the same millisecond";

/** The snapshots of this store. */
export class RemoteSnapshots {
  constructor(
    readonly context: RemoteContext,
    readonly catalog: Catalog,
    readonly locations: LocationKeeper,
  ) {}

  async list(databaseId: string): Promise<SnapshotInfo[]> {
    const { kept } = await this.#pruned(databaseId);
    return kept.map(toInfo);
  }

  /**
   * For the write slot. Errors: `slug_taken`; `database_corrupt` where the database is lost, `store_unavailable` where it
   * was dropped meanwhile; `database_busy` for a label of the service's own, which another instance has given to its
   * snapshot of the same millisecond.
   */
  async take(connection: RemoteConnection, label: string): Promise<SnapshotInfo> {
    // A restore elsewhere may have moved it.
    await connection.moved();
    const { location: from } = await connection.located();
    const { databaseId } = connection;
    const sizeBytes = await unlessGone(connection, () => sizeOfLocation(this.context, from));
    const to = this.newLocation(databaseId);
    return await this.locations.copying([to], async (end) => {
      const createdAt = this.context.clock.now();
      const location = await this.locations.fork(from, to);
      const automatic = label.startsWith(AUTOMATIC);
      const snapshot: CatalogSnapshot = { label, location, createdAt, sizeBytes, automatic };
      const isListed = await this.catalog.made(
        [requireDatabase(databaseId), insertSnapshot(databaseId, snapshot), copied(location), end],
        async () => (await this.catalog.snapshots(databaseId)).some((one) => one.location === location),
      );
      if (isListed) return toInfo(snapshot);
      await this.locations.letGo([location], [end]);
      if (await this.catalog.find(databaseId) === null) throw new AppError("store_unavailable");
      if (automatic) throw new AppError("database_busy", { message: SAME_MOMENT });
      throw new AppError("slug_taken", { message: "Choose another label; a snapshot has this one" });
    });
  }

  /** Removes a snapshot from the list, and soon from the server. */
  async drop(databaseId: string, label: string): Promise<void> {
    await this.#drop(
      databaseId,
      (await this.catalog.snapshots(databaseId)).filter((one) => one.label === label),
    );
  }

  /** Drops the snapshot of a write that has changed nothing. Where that fails, it is dropped later, with the oldest ones. */
  async dropUnused(databaseId: string, label: string): Promise<void> {
    await this.drop(databaseId, label).catch(() => this.context.log("warn", "snapshot_not_dropped"));
  }

  /** The same for a write that has ended in an error. The snapshot stays unless the error says that nothing was committed. */
  async dropBehind(error: unknown, databaseId: string, label: string): Promise<void> {
    if (isUndone(error)) await this.dropUnused(databaseId, label);
  }

  /** Drops what is too old or too much. */
  async prune(databaseId: string): Promise<void> {
    const { dropped } = await this.#pruned(databaseId);
    await this.#drop(databaseId, dropped);
  }

  /**
   * For the write slot. A snapshot comes back whatever of the present location is lost. Errors: those of
   * `TenantDatabase.restore`, `database_busy` while another restore is under way.
   */
  async restore(
    connection: RemoteConnection,
    options: RestoreOptions<LogIdentity> & { readonly label: string },
  ): Promise<Restored> {
    const { location: snapshot } = await this.#require(connection.databaseId, options.label);
    await connection.moved();
    const to = this.newLocation(connection.databaseId);
    return await this.locations.copying(
      [to],
      (end) => runRestore(this, connection, { ...options, snapshot, to, end }),
    );
  }

  /** For the write slot. Null: the present state cannot be read. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  async compare(connection: RemoteConnection, label: string): Promise<RestoreEffect | null> {
    const { location } = await this.#require(connection.databaseId, label);
    await connection.moved();
    const { location: present } = await connection.located();
    const to = this.newLocation(connection.databaseId);
    return await this.locations.copying([to], async (end) => {
      const snapshot = await this.locations.forkSnapshot(location, to);
      // A snapshot that a restore has made is closed.
      await this.context.platform.block(snapshot, { reads: false, writes: false });
      const effect = await compareRestore(this.context, { present, snapshot });
      await this.locations.letGo([snapshot], [end]);
      return effect;
    });
  }

  /**
   * Copies a database or one of its snapshots, to `to` or beside it: resolves with where. Within `LocationKeeper.copying`.
   * Errors: `snapshot_not_found`, `snapshot_corrupt`, `database_corrupt` where the database is lost.
   */
  async copy(
    connection: RemoteConnection,
    { snapshot, log }: Pick<CopySource<LogIdentity>, "snapshot" | "log">,
    to: string,
  ): Promise<string> {
    const startedMs = this.context.clock.monotonicMs();
    // A restore elsewhere may have moved it.
    if (snapshot === null) await connection.moved();
    const from = snapshot === null
      ? (await connection.located()).location
      : (await this.#require(connection.databaseId, snapshot)).location;
    const location =
      await (snapshot === null
        ? unlessGone(connection, () => this.locations.fork(from, to))
        : this.locations.forkSnapshot(from, to));
    await this.context.platform.block(location, { reads: false, writes: false });
    await forgetRecords(this.context, location);
    if (log) await recordRestore(this.context, { log, location, tablesOf: [location], startedMs });
    return location;
  }

  /** A name for a new copy: sorts by time within its database. */
  newLocation(databaseId: string): string {
    const own = newId("snap", this.context.clock.now()).slice("snap_".length);
    return `${locationOf(databaseId)}-${own.toLowerCase()}`;
  }

  async #pruned(databaseId: string) {
    const bounds = { nowMs: this.context.clock.now(), keepMs: this.context.snapshotDays * DAY_MS };
    return pruneSnapshots(await this.catalog.snapshots(databaseId), bounds);
  }

  async #drop(databaseId: string, snapshots: readonly CatalogSnapshot[]): Promise<void> {
    await this.locations.letGo(
      snapshots.map(({ location }) => location),
      snapshots.map((
        { label },
      ) => ["DELETE FROM snapshot WHERE database_id = ? AND label = ?", [databaseId, label]]),
    );
  }

  async #require(databaseId: string, label: string): Promise<CatalogSnapshot> {
    const found = (await this.catalog.snapshots(databaseId)).find((one) => one.label === label);
    if (!found) throw new AppError("snapshot_not_found");
    return found;
  }
}

/** Errors: `database_corrupt` where nothing is there any more, and the catalogue does not know another place either. */
async function unlessGone<T>(connection: RemoteConnection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isGone = error instanceof RemoteFailure && error.reason === "gone";
    if (isGone && !await connection.moved()) throw new AppError("database_corrupt");
    throw error;
  }
}

/** Whether the error of a failed write says that nothing of it was committed. */
function isUndone(error: unknown): boolean {
  if (error instanceof AppError) return error.code !== "outcome_unknown";
  return error instanceof RemoteFailure || error instanceof Stopped;
}

function toInfo({ label, createdAt, sizeBytes, automatic }: CatalogSnapshot): SnapshotInfo {
  return { label, createdAt, sizeBytes, automatic };
}
