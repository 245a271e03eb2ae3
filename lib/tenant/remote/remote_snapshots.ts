// Snapshots of remote databases: copies in places of their own, listed in the catalogue. A restore makes a copy of the
// snapshot, carries over what must not be forgotten, and then says in the catalogue that the database is there now.
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { type RestoreEffect, UNREADABLE_DIGEST } from "../../sql/branch_report.ts";
import type { RestoreOptions, SnapshotInfo } from "../snapshots.ts";
import type { CopySource, LogIdentity } from "../tenant_store.ts";
import { damagedLabel, type Restored, setAsideText } from "../damage.ts";
import { pruneSnapshots } from "../prune_snapshots.ts";
import { carryRecords, forgetRecords } from "./carry_records.ts";
import type { Catalog, CatalogSnapshot, CatalogStatement, TenantPlace } from "./catalog.ts";
import { compareRestore } from "./compare_restore.ts";
import { recordRestore } from "./record_restore.ts";
import { locationOf, sizeOfLocation, unlessLost } from "./locations.ts";
import { copied, type LocationKeeper, requireDatabase } from "./location_keeper.ts";
import type { RemoteContext } from "./remote_context.ts";
import type { RemoteTenant } from "./remote_tenant.ts";

const DAY_MS = 86_400_000;
/** Milliseconds that a database may stay closed for writes by a restore that does not end. */
const CLOSED_MS = 120_000;
/** Labels of the service's own begin so; a caller's may not. */
const AUTOMATIC = "auto-";

/** The snapshots of this store. */
export class RemoteSnapshots {
  constructor(
    private readonly context: RemoteContext,
    private readonly catalog: Catalog,
    private readonly locations: LocationKeeper,
  ) {}

  async list(databaseId: string): Promise<SnapshotInfo[]> {
    const { kept } = await this.#thinned(databaseId);
    return kept.map(toInfo);
  }

  /** For the write slot. Errors: `slug_taken`. */
  async take(tenant: RemoteTenant, label: string): Promise<SnapshotInfo> {
    // A restore elsewhere may have moved it.
    await tenant.moved();
    const { place: from } = await tenant.place();
    const { databaseId } = tenant;
    const sizeBytes = await sizeOfLocation(this.context, from);
    const to = this.newPlace(databaseId);
    return await this.locations.copying([to], async (end) => {
      const createdAt = this.context.clock.now();
      const place = await this.locations.fork(from, to);
      const automatic = label.startsWith(AUTOMATIC);
      const snapshot: CatalogSnapshot = { label, place, createdAt, sizeBytes, automatic };
      const kept = await this.catalog.made(
        [requireDatabase(databaseId), insertSnapshot(databaseId, snapshot), copied(place), end],
        async () => (await this.catalog.snapshots(databaseId)).some((one) => one.place === place),
      );
      if (kept) return toInfo(snapshot);
      await this.locations.letGo([place], [end]);
      if (await this.catalog.find(databaseId) === null) throw new AppError("store_unavailable");
      throw new AppError("slug_taken", { message: "Choose another label; a snapshot has this one" });
    });
  }

  /** Forgets a snapshot that turned out to be of no use. */
  async drop(databaseId: string, label: string): Promise<void> {
    await this.#drop(
      databaseId,
      (await this.catalog.snapshots(databaseId)).filter((one) => one.label === label),
    );
  }

  /** Drops what is too old or too much. */
  async thin(databaseId: string): Promise<void> {
    const { dropped } = await this.#thinned(databaseId);
    await this.#drop(databaseId, dropped);
  }

  /**
   * For the write slot. What of the present place is lost keeps no snapshot from coming back. Errors: those of
   * `TenantDatabase.restore`, `database_busy` while another restore is under way.
   */
  async restore(
    tenant: RemoteTenant,
    options: RestoreOptions<LogIdentity> & { readonly label: string },
  ): Promise<Restored> {
    const { place: snapshot } = await this.#require(tenant.databaseId, options.label);
    await tenant.moved();
    const to = this.newPlace(tenant.databaseId);
    return await this.locations.copying(
      [to],
      (end) => this.#restore(tenant, { ...options, snapshot, to, end }),
    );
  }

  async #restore(
    tenant: RemoteTenant,
    { snapshot, to, end, undoLabel, log, expects }: RestoreOptions<LogIdentity> & {
      readonly snapshot: string;
      readonly to: string;
      readonly end: CatalogStatement;
    },
  ): Promise<Restored> {
    const { catalog, context } = this;
    const { databaseId } = tenant;
    const startedMs = context.clock.monotonicMs();
    const seen = await tenant.place();
    const { place: old } = seen;
    const nowMs = context.clock.now();
    const closedUntil = nowMs + CLOSED_MS;
    const isOurs = seen.closedUntil < nowMs && await catalog.claim(databaseId, seen, closedUntil);
    if (!isOurs) throw new AppError("database_busy");
    let next = to;
    let restored: Restored = { undo: true, setAside: null };
    try {
      const isThere = await unlessLost(() => context.platform.block(old, { reads: false, writes: true }));
      next = await this.#forkSnapshot(snapshot, to);
      await context.platform.block(next, { reads: false, writes: false });
      if (expects !== undefined) {
        const effect = isThere ? await compareRestore(context, { present: old, snapshot: next }) : null;
        if ((effect?.digest ?? UNREADABLE_DIGEST) !== expects) throw new AppError("effect_changed");
      }
      let sizeBytes = 0;
      const undo = isThere && await unlessLost(async () => {
        await carryRecords(context, { from: old, to: next, nowMs });
        sizeBytes = await sizeOfLocation(context, old);
      });
      restored = { undo, setAside: isThere && !undo ? damagedLabel(nowMs) : null };
      if (log) {
        const tablesOf = undo ? [old, next] : [next];
        await recordRestore(context, { log: withSetAside(log, restored), place: next, tablesOf, startedMs });
      }
      // Before it is said that the database has moved: whoever looks here later must ask where it is, also where nobody
      // lives to say more. Snapshots are copied from closed places as well.
      if (isThere) await context.platform.block(old, { reads: true, writes: true });
      const before = { label: restored.setAside ?? undoLabel, place: old, createdAt: nowMs, sizeBytes };
      const moved = await catalog.change([
        requireDatabase(databaseId, closedUntil),
        [
          "UPDATE tenant SET place = ?, generation = generation + 1, closed_until = 0 WHERE database_id = ?",
          [next, databaseId],
        ],
        ...(isThere
          ? [insertSnapshot(databaseId, { ...before, automatic: before.label.startsWith(AUTOMATIC) })]
          : []),
        copied(next),
        end,
      ]);
      if (!moved) throw new AppError("database_busy");
    } catch (error) {
      if (!await this.#tookPlace(tenant, { ...seen, closedUntil }, next)) throw error;
    }
    await tenant.moved();
    return restored;
  }

  /** For the write slot. Null: the present state cannot be read. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  async compare(tenant: RemoteTenant, label: string): Promise<RestoreEffect | null> {
    const { place } = await this.#require(tenant.databaseId, label);
    await tenant.moved();
    const { place: present } = await tenant.place();
    const to = this.newPlace(tenant.databaseId);
    return await this.locations.copying([to], async (end) => {
      const snapshot = await this.#forkSnapshot(place, to);
      // A snapshot that a restore has made is closed.
      await this.context.platform.block(snapshot, { reads: false, writes: false });
      const effect = await compareRestore(this.context, { present, snapshot });
      await this.locations.letGo([snapshot], [end]);
      return effect;
    });
  }

  /**
   * Copies a database or one of its snapshots, to `to` or beside it: resolves with where. Within `LocationKeeper.copying`.
   * Errors: `snapshot_not_found`, `snapshot_corrupt`.
   */
  async copy(
    tenant: RemoteTenant,
    { snapshot, log }: Pick<CopySource, "snapshot" | "log">,
    to: string,
  ): Promise<string> {
    const startedMs = this.context.clock.monotonicMs();
    // A restore elsewhere may have moved it.
    if (snapshot === null) await tenant.moved();
    const from = snapshot === null
      ? (await tenant.place()).place
      : (await this.#require(tenant.databaseId, snapshot)).place;
    const place = await (snapshot === null ? this.locations.fork(from, to) : this.#forkSnapshot(from, to));
    await this.context.platform.block(place, { reads: false, writes: false });
    await forgetRecords(this.context, place);
    if (log) await recordRestore(this.context, { log, place, tablesOf: [place], startedMs });
    return place;
  }

  /** A name for a new copy: sorts by time within its database. */
  newPlace(databaseId: string): string {
    const own = newId("snap", this.context.clock.now()).slice("snap_".length);
    return `${locationOf(databaseId)}-${own.toLowerCase()}`;
  }

  async #forkSnapshot(from: string, to: string): Promise<string> {
    let location = to;
    if (await unlessLost(async () => void (location = await this.locations.fork(from, to)))) return location;
    throw new AppError("snapshot_corrupt");
  }

  async #thinned(databaseId: string) {
    const bounds = { nowMs: this.context.clock.now(), keepMs: this.context.snapshotDays * DAY_MS };
    return pruneSnapshots(await this.catalog.snapshots(databaseId), bounds);
  }

  async #drop(databaseId: string, snapshots: readonly CatalogSnapshot[]): Promise<void> {
    await this.locations.letGo(
      snapshots.map(({ place }) => place),
      snapshots.map((
        { label },
      ) => ["DELETE FROM snapshot WHERE database_id = ? AND label = ?", [databaseId, label]]),
    );
  }

  /** True: a restore that failed is done, and only an answer was lost. Otherwise the old place is opened again. */
  async #tookPlace(tenant: RemoteTenant, closed: TenantPlace, next: string): Promise<boolean> {
    try {
      if (await tenant.openAgain(closed)) return false;
      await tenant.moved();
      return (await tenant.place()).place === next;
    } catch {
      // Whoever comes next finds in the catalogue where it is, or that the time is over, and opens it.
      this.context.log("warn", "database_left_closed");
      return false;
    }
  }

  async #require(databaseId: string, label: string): Promise<CatalogSnapshot> {
    const found = (await this.catalog.snapshots(databaseId)).find((one) => one.label === label);
    if (!found) throw new AppError("snapshot_not_found");
    return found;
  }
}

function withSetAside(log: LogIdentity, { setAside }: Restored): LogIdentity {
  return setAside === null ? log : { ...log, sql: log.sql + setAsideText(setAside) };
}

function insertSnapshot(databaseId: string, one: CatalogSnapshot): CatalogStatement {
  return ["INSERT INTO snapshot VALUES (?,?,?,?,?,?)", [
    ...[databaseId, one.label, one.place, one.createdAt, one.sizeBytes, one.automatic ? 1 : 0],
  ]];
}

function toInfo({ label, createdAt, sizeBytes, automatic }: CatalogSnapshot): SnapshotInfo {
  return { label, createdAt, sizeBytes, automatic };
}
