// Tenant databases on a server of libSQL databases. Several processes may work on one server: where a database is and
// which snapshots it has stands in the catalogue there, and the server itself lets one writer of a database in at a time.
import type { DatabaseIds } from "../../core/database_ids.ts";
import { DAY_MS } from "../../core/clock.ts";
import type { CopySource } from "../copy_source.ts";
import { AppError } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { tryEach } from "../../core/try_each.ts";
import { serviceTableStatements } from "../../sql/words/service_tables.ts";
import { CommitNotices } from "../commit_notices.ts";
import type { DatabaseStorage } from "../damage.ts";
import type { StoreStrain } from "../store_strain.ts";
import type { LogIdentity, TenantDatabase, TenantStore } from "../tenant_store.ts";
import { type Fill, RemoteBranches } from "./remote_branches.ts";
import { Catalog } from "./locations/catalog.ts";
import type { CatalogStatement } from "./locations/catalog_client.ts";
import { copied, LocationKeeper } from "./locations/location_keeper.ts";
import { RemoteTenant } from "./remote_tenant.ts";
import { reachable } from "./connection/until_answered.ts";
import {
  CLOSE_MS,
  closeStream,
  type RemoteContext,
  type RemoteParts,
  rowsAt,
  runOwn,
} from "./server/remote_context.ts";
import { isLost, RemoteFailure } from "./hrana/remote_failure.ts";
import { retryCutOff } from "./hrana/repeat.ts";
import { chain, ownTransaction } from "./hrana/step_list.ts";
import { within } from "./hrana/within.ts";
import { RemoteDatabase } from "./remote_database.ts";
import { locationOf, SIZE, sizeAt, sizeOfLocation } from "./locations/locations.ts";
import { RequestsUnderWay } from "./server/requests_under_way.ts";
import { RemoteSnapshots } from "./copies/remote_snapshots.ts";
import type { TransferStore } from "../transfer/transfer_store.ts";
import { RemoteTransfers } from "./remote_transfers.ts";
import { SlowSlots } from "./calls/slow_slots.ts";
import { RemoteConnection } from "./connection/remote_connection.ts";

/** Databases in use at most; above that the one used longest ago is forgotten. */
const MAX_OPEN = 200;
/** From this share of the locations that the server can have open, the store reports that there are too many. */
const CROWDED = 0.8;

/** The store of one server. */
export class RemoteStore implements TenantStore {
  readonly files = null;
  readonly reserve = null;
  readonly archive = null;
  readonly metrics: TenantStore["metrics"] = () => this.context.underWay.families();
  readonly branches: RemoteBranches;
  readonly transfers: TransferStore | null;
  readonly #open = new Map<string, RemoteTenant>();
  readonly #catalog: Catalog;
  readonly commits = new CommitNotices({ others: true });
  readonly #locations: LocationKeeper;
  readonly #snapshots: RemoteSnapshots;
  readonly #slots: SlowSlots;
  #closed = false;
  private readonly context: RemoteContext;

  constructor(parts: RemoteParts) {
    const underWay = new RequestsUnderWay();
    const context = this.context = { ...parts, underWay, commits: this.commits };
    this.#slots = new SlowSlots(context.readsAtOnce);
    this.#catalog = new Catalog(context);
    this.#locations = new LocationKeeper(context, this.#catalog);
    this.#snapshots = new RemoteSnapshots(context, this.#catalog, this.#locations);
    const { transferRoom } = context;
    this.transfers = transferRoom &&
      new RemoteTransfers(this.#snapshots, (id) => this.#tenant(id), transferRoom);
    this.branches = new RemoteBranches({
      context,
      catalog: this.#catalog,
      snapshots: this.#snapshots,
      locations: this.#locations,
      tenant: (databaseId) => this.#tenant(databaseId),
      makeBranch: (databaseId, ancestor, fill) => this.#make(databaseId, fill, ancestor),
    });
  }

  create(databaseId: string): Promise<DatabaseStorage> {
    return reachable(async () => {
      let sizeBytes = 0;
      await this.#make(databaseId, async (location) => {
        await this.context.platform.create(location);
        // One commit of the server's: each takes it longer than all of the tables.
        const { steps, commit } = ownTransaction((list) => {
          for (const sql of [...serviceTableStatements, SIZE]) chain(list, sql);
        });
        const results = await runOwn(this.context, { location, mode: "write" }, steps);
        rowsAt(results, commit);
        sizeBytes = sizeAt(results, commit - 1);
        return { location, ancestor: null };
      });
      return { sizeBytes, state: "ok" };
    });
  }

  copy(databaseId: string, from: CopySource<LogIdentity>): Promise<void> {
    return reachable(async () => {
      const source = this.#tenant(from.databaseId);
      await this.#make(databaseId, async (to) => {
        const copy = () => this.#snapshots.copy(source.connection, from, to);
        return { location: await source.inSlot(copy), ancestor: null };
      });
    });
  }

  open(database: DatabaseIds): TenantDatabase {
    const tenant = () => this.#tenant(database.databaseId, database.namespaceId);
    return new RemoteDatabase(tenant, this.#snapshots, database);
  }

  drop(databaseId: string): Promise<void> {
    return reachable(async () => {
      const tenant = this.#tenant(databaseId);
      tenant.drop();
      const [found, locations] = await Promise.all([
        this.#catalog.find(databaseId),
        this.#catalog.locationsOf(databaseId),
      ]);
      const change = ["tenant", "snapshot", "ancestor"].map((table): CatalogStatement => [
        `DELETE FROM ${table} WHERE database_id = ?`,
        [databaseId],
      ]);
      // Another instance that still knows the location must not write there: nobody would ever read it.
      // The id never comes back, so all of it may run twice.
      await retryCutOff(() => this.#locations.letGo(locations, change, found?.location ?? null));
      this.#open.delete(databaseId);
    });
  }

  storageOf(databaseId: string): Promise<DatabaseStorage> {
    return reachable(async () => {
      const found = await this.#catalog.find(databaseId);
      if (!found) return { sizeBytes: 0, state: "corrupt" };
      try {
        return { sizeBytes: await sizeOfLocation(this.context, found.location), state: "ok" };
      } catch (error) {
        if (!(error instanceof RemoteFailure)) throw error;
        return { sizeBytes: 0, state: isLost(error) ? "corrupt" : "unavailable" };
      }
    });
  }

  ready(): Promise<readonly StoreStrain[]> {
    if (this.#closed) return Promise.reject(new AppError("store_unavailable"));
    return reachable(async () => {
      const strained = this.context.platform.strain?.(this.#catalog.location);
      // Both have ended whatever becomes of one.
      const crowded = await this.#isCrowded().finally(() => strained?.catch(() => {}));
      const strain = await strained ?? null;
      return [...(strain === null ? [] : [strain]), ...(crowded ? ["near_open_max"] as const : [])];
    });
  }

  /** Removes what a crash left behind and snapshots whose time is over. For a timer or a cron job. */
  sweep(): Promise<void> {
    return reachable(async () => {
      const nowMs = this.context.clock.now();
      await this.#isCrowded();
      const oldest = nowMs - this.context.snapshotDays * DAY_MS;
      const old = await this.#catalog.databasesWithSnapshotsBefore(oldest);
      await tryEach([
        ...old.map((id) => () => this.#snapshots.prune(id)),
        () => this.#locations.sweep(),
      ], (work) => work());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.transfers?.room.close();
    await Promise.all([...this.#open.values()].map((tenant) => tenant.close()));
    await this.#locations.close();
    for (const idle of this.context.streamPool?.takeIdle() ?? []) closeStream(this.context, idle);
    await this.#ended();
    this.context.platform.close?.();
    const { poster, sockets, gateThread } = this.context;
    for (const part of [poster, sockets, gateThread]) part?.close();
  }

  async #make(databaseId: string, fill: Fill, ancestor: string | null = null): Promise<void> {
    checkId(databaseId);
    const to = locationOf(databaseId);
    if (await this.#catalog.find(databaseId)) throw new AppError("store_unavailable");
    await this.#locations.copying(ancestor === null ? [to] : [to, ancestor], async (end) => {
      const filled = await fill(to);
      const made = await this.#catalog.made([
        ["INSERT INTO tenant VALUES (?,?,0,0)", [databaseId, filled.location]],
        copied(filled.location),
        ...(filled.ancestor === null ? [] : [
          ["INSERT INTO ancestor VALUES (?,?)", [databaseId, filled.ancestor]] satisfies CatalogStatement,
          copied(filled.ancestor),
        ]),
        end,
      ], async () => (await this.#catalog.find(databaseId))?.location === filled.location);
      if (!made) throw new AppError("store_unavailable");
    });
  }

  #tenant(databaseId: string, namespaceId = ""): RemoteTenant {
    checkId(databaseId);
    let tenant = this.#open.get(databaseId);
    if (!tenant) {
      this.#forgetOldest();
      const connection = new RemoteConnection(this.context, this.#catalog, databaseId);
      tenant = new RemoteTenant(connection, this.#snapshots, this.#slots);
    }
    if (namespaceId) tenant.connection.asker.namespaceId = namespaceId;
    // Inserted again, it is the last: the map is in order of use.
    this.#open.delete(databaseId);
    this.#open.set(databaseId, tenant);
    return tenant;
  }

  /** The server has nearly as many locations as it can have open. */
  async #isCrowded(): Promise<boolean> {
    const { mostOpen, log } = this.context;
    const locations = await this.#catalog.countLocations(mostOpen !== undefined);
    if (mostOpen === undefined || locations < mostOpen * CROWDED) return false;
    log("warn", "tenants_near_open_max", { variable: "TENANTS_OPEN_MAX", locations, most: mostOpen });
    return true;
  }

  /** What no caller waits for ends as well: transactions that are given up, questions whether the server answers. */
  async #ended(): Promise<void> {
    const { underWay, clock } = this.context;
    for (const untilMs = clock.monotonicMs() + CLOSE_MS; underWay.size > 0;) {
      const leftMs = untilMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      await within(leftMs, underWay.end());
    }
  }

  #forgetOldest(): void {
    if (this.#open.size < MAX_OPEN) return;
    const oldest = this.#open.entries().find(([, tenant]) => tenant.idle);
    if (oldest) this.#open.delete(oldest[0]);
  }
}

/** Names on the server are made of ids, so nothing but an id may become one. */
function checkId(databaseId: string): void {
  if (!isId("db", databaseId)) throw new TypeError("not a database id");
}
