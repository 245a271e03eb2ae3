// Tenant databases on a server of libSQL databases. Several processes may work on one server: where a database is and
// which snapshots it has stands in the catalogue there, and the server itself keeps writers of one database apart.
import { AppError } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { tryEach } from "../../core/try_each.ts";
import { serviceTableStatements } from "../../sql/service_tables.ts";
import type { DatabaseStorage } from "../damage.ts";
import type { StoreStrain } from "../store_strain.ts";
import type { CopySource, TenantDatabase, TenantStore } from "../tenant_store.ts";
import { RemoteBranches } from "./remote_branches.ts";
import { Catalog, type CatalogStatement } from "./catalog.ts";
import { OpenTenant } from "./open_tenant.ts";
import { reachable } from "./reachable.ts";
import type { PooledStream } from "./hrana/stream_pool.ts";
import { type RemoteContext, rowsAt, runOwn, send } from "./remote_context.ts";
import { isLost, RemoteFailure } from "./hrana/remote_failure.ts";
import { RemoteDatabase } from "./remote_database.ts";
import { locationOf, sizeOfLocation } from "./locations.ts";
import { RemoteSnapshots } from "./remote_snapshots.ts";
import { SlowSlots } from "./slow_reads.ts";
import { RemoteTenant } from "./remote_tenant.ts";

/** Milliseconds that closing an idle stream may take. */
const CLOSE_MS = 2000;
/** Databases kept open; above that the one used longest ago is forgotten. */
const MAX_OPEN = 200;
/** Milliseconds after which a place that was being made or removed counts as left behind. */
const LOOSE_MS = 600_000;
const DAY_MS = 86_400_000;
/** Share of the places that the server can have open from which on it is said that there are too many. */
const CROWDED = 0.8;

export class RemoteStore implements TenantStore {
  readonly branches: RemoteBranches;
  readonly #open = new Map<string, OpenTenant>();
  readonly #catalog: Catalog;
  readonly #snapshots: RemoteSnapshots;
  readonly #slots: SlowSlots;
  #closed = false;

  constructor(private readonly context: RemoteContext) {
    this.#slots = new SlowSlots(context.readsAtOnce);
    this.#catalog = new Catalog(context);
    this.#snapshots = new RemoteSnapshots(context, this.#catalog);
    this.branches = new RemoteBranches({
      ...{ context, catalog: this.#catalog, snapshots: this.#snapshots },
      tenant: (databaseId) => this.#tenant(databaseId),
      makeBranch: (databaseId, ancestor, fill) => this.#make(databaseId, fill, ancestor),
    });
  }

  create(databaseId: string): Promise<void> {
    return reachable(() =>
      this.#make(databaseId, async (place) => {
        await this.context.platform.create(place);
        const steps = serviceTableStatements.map((sql) => ({ stmt: { sql } }));
        const results = await runOwn(this.context, { place, mode: "write" }, steps);
        for (const at of steps.keys()) rowsAt(results, at);
      })
    );
  }

  copy(databaseId: string, from: CopySource): Promise<void> {
    return reachable(async () => {
      const source = this.#tenant(from.databaseId);
      await this.#make(
        databaseId,
        (place) => source.lane.addTask(() => this.#snapshots.copy(source.remote, from, place)),
      );
    });
  }

  open(databaseId: string, _namespaceId: string): TenantDatabase {
    return new RemoteDatabase(() => this.#tenant(databaseId), this.#snapshots, databaseId);
  }

  drop(databaseId: string): Promise<void> {
    return reachable(async () => {
      const tenant = this.#tenant(databaseId);
      tenant.drop();
      const places = await this.#catalog.placesOf(databaseId);
      const nowMs = this.context.clock.now();
      await this.#catalog.change([
        ...places.map((
          place,
        ): CatalogStatement => ["INSERT OR IGNORE INTO loose VALUES (?,?)", [place, nowMs]]),
        ["DELETE FROM tenant WHERE database_id = ?", [databaseId]],
        ["DELETE FROM snapshot WHERE database_id = ?", [databaseId]],
        ["DELETE FROM ancestor WHERE database_id = ?", [databaseId]],
      ]);
      await this.#snapshots.removePlaces(places);
      this.#open.delete(databaseId);
    });
  }

  storageOf(databaseId: string): Promise<DatabaseStorage> {
    return reachable(async () => {
      const found = await this.#catalog.find(databaseId);
      if (!found) return { sizeBytes: 0, state: "corrupt" };
      try {
        return { sizeBytes: await sizeOfLocation(this.context, found.place), state: "ok" };
      } catch (error) {
        if (!(error instanceof RemoteFailure)) throw error;
        return { sizeBytes: 0, state: isLost(error) ? "corrupt" : "unavailable" };
      }
    });
  }

  ready(): Promise<readonly StoreStrain[]> {
    if (this.#closed) return Promise.reject(new AppError("store_unavailable"));
    return reachable(async () => {
      const [crowded, strain = null] = await Promise.all([
        this.#isCrowded(),
        this.context.platform.strain?.(this.#catalog.place),
      ]);
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
      const loose = await this.#catalog.looseBefore(nowMs - LOOSE_MS);
      await tryEach([
        () => this.#snapshots.removePlaces(loose),
        ...old.map((id) => () => this.#snapshots.thin(id)),
      ], (work) => work());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#open.values()].map((tenant) => tenant.close()));
    await Promise.all((this.context.streamPool?.takeIdle() ?? []).map((idle) => this.#closeStream(idle)));
  }

  /** Places are in the catalogue, as ones that may be left behind, before they are there. */
  async #make(
    databaseId: string,
    fill: (place: string) => Promise<void>,
    ancestor: string | null = null,
  ): Promise<void> {
    checkId(databaseId);
    const place = locationOf(databaseId);
    if (await this.#catalog.find(databaseId)) throw new AppError("store_unavailable");
    const places = ancestor === null ? [place] : [place, ancestor];
    const nowMs = this.context.clock.now();
    await this.#catalog.change(
      places.map((one) => ["INSERT OR REPLACE INTO loose VALUES (?,?)", [one, nowMs]]),
    );
    try {
      await fill(place);
    } catch (error) {
      // What cannot be removed now goes with a sweep.
      await this.#snapshots.removePlaces(places).catch(() => {});
      throw error;
    }
    const made = await this.#catalog.made([
      ["INSERT INTO tenant VALUES (?,?,0,0)", [databaseId, place]],
      ...(ancestor === null
        ? []
        : [["INSERT INTO ancestor VALUES (?,?)", [databaseId, ancestor]] satisfies CatalogStatement]),
      ...places.map((one): CatalogStatement => ["DELETE FROM loose WHERE place = ?", [one]]),
    ], async () => (await this.#catalog.find(databaseId))?.place === place);
    if (!made) throw new AppError("store_unavailable");
  }

  #tenant(databaseId: string): OpenTenant {
    checkId(databaseId);
    let tenant = this.#open.get(databaseId);
    if (!tenant) {
      this.#forgetOldest();
      tenant = new OpenTenant(
        new RemoteTenant(this.context, this.#catalog, databaseId),
        this.#snapshots,
        this.#slots,
      );
    }
    // Re-inserting keeps the map in order of use.
    this.#open.delete(databaseId);
    this.#open.set(databaseId, tenant);
    return tenant;
  }

  /** The server has nearly as many places as it can have open. */
  async #isCrowded(): Promise<boolean> {
    const { mostOpen, log } = this.context;
    const places = await this.#catalog.places(mostOpen !== undefined);
    if (mostOpen === undefined || places < mostOpen * CROWDED) return false;
    log("warn", "tenants_near_open_max", { variable: "TENANTS_OPEN_MAX", places, most: mostOpen });
    return true;
  }

  /** Best effort: the server closes it by itself, but until then it counts. */
  async #closeStream({ place, mode, baton }: PooledStream): Promise<void> {
    const signal = AbortSignal.timeout(CLOSE_MS);
    await send(this.context, { place, mode }, { steps: [], baton, close: true }, { signal }).catch(
      () => {},
    );
  }

  #forgetOldest(): void {
    if (this.#open.size < MAX_OPEN) return;
    for (const [id, tenant] of this.#open) {
      if (!tenant.idle) continue;
      this.#open.delete(id);
      return;
    }
  }
}

/** Names on the server are made of ids; what is none never gets there. */
function checkId(databaseId: string): void {
  if (!isId("db", databaseId)) throw new TypeError("not a database id");
}
