// The archive of this store's databases: connects it with their lanes, files and snapshots.
import { reasonOf } from "../../core/attempt.ts";
import type { Clock } from "../../core/clock.ts";
import { AppError, ConfigError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { ArchiveOwner } from "../archive/archive_owner.ts";
import { NotedPlace } from "../archive/archive_place.ts";
import type { ArchivedStore, FoldLog } from "../archive/archived_store.ts";
import { Archiver } from "../archive/archiver.ts";
import { buildMoment } from "../archive/build_moment.ts";
import { installationOf } from "../archive/installation.ts";
import { findFirstMs } from "../archive/find_epoch.ts";
import { Packer } from "../archive/packer.ts";
import { openObjectStore } from "../archive/open_object_store.ts";
import type { ObjectStore } from "../object_store.ts";
import type { DatabaseFiles } from "../database_files.ts";
import type { ParentTie } from "../jail/start_jailed.ts";
import type { ArchiveStatus, StoreTrust } from "../moment_archive.ts";
import type { ArchiveHooks } from "./archive_hooks.ts";
import type { ArchiveSettings } from "../archive/archive_settings.ts";
import type { DatabaseHost } from "./database_host.ts";
import { databasePath, sizeOf, storedIds } from "./files/tenant_paths.ts";
import { WriteLease } from "./lanes/write_lease.ts";
import { removeIfThere } from "../../store/if_there.ts";

/** What this needs. */
export interface LocalArchiveOptions extends ArchiveSettings {
  readonly store: DatabaseHost & { readonly files: DatabaseFiles };
  readonly tenants: string;
  readonly dataDirectory: string;
  readonly engineEnvironment: Readonly<Record<string, string>>;
  readonly parentTie: ParentTie;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds that a log waits for the write slot to be folded in. */
const SLOT_MS = 2000;
/** Milliseconds after which nobody waits any longer for what only a page shows. */
const FIRST_MS = 5000;
/** Moments that are built at a time: each takes a processor, and the disk of its database. */
const BUILDS_AT_ONCE = 2;
/** Milliseconds that a request about the owner may take, which is small, and for which the start waits. */
const OWNER_TIMEOUT_MS = 5_000;
const MB = 1024 * 1024;

/** The archive of this store. */
export class LocalArchive implements ArchiveHooks, ArchivedStore {
  readonly #archiver: Archiver;
  readonly #packer: Packer;
  /** The databases of which a moment is being built. */
  readonly #building = new Set<string>();

  private constructor(
    private readonly options: LocalArchiveOptions,
    private readonly objects: ObjectStore,
    owner: ArchiveOwner,
  ) {
    const { clock, log, days, spoolMb, dataDirectory, tenants, parentTie } = options;
    const environment = options.engineEnvironment;
    this.#packer = new Packer({ paths: [tenants, `${dataDirectory}/archive`], parentTie, environment });
    this.#archiver = new Archiver({
      pack: (job) => this.#packer.run(job),
      databases: this,
      store: objects,
      owner,
      clock,
      log,
      keepDays: days,
      spoolBytes: spoolMb * MB,
      folder: `${dataDirectory}/archive`,
    });
  }

  /** Throws `ConfigError` where another installation archives there. A store that is away is asked again later. */
  static async open(options: LocalArchiveOptions): Promise<LocalArchive> {
    const objects = await openObjectStore(options.url, options.keys);
    const folder = `${options.dataDirectory}/archive`;
    const owner = new ArchiveOwner(objects.within(OWNER_TIMEOUT_MS), await installationOf(folder), {
      takeOver: options.takeOver,
      noted: new NotedPlace(folder),
    });
    try {
      await owner.claim({ isOpen: false });
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      options.log("warn", "archive_away", { reason: reasonOf(error) });
    }
    const archive = new LocalArchive(options, objects, owner);
    await archive.#archiver.begin();
    return archive;
  }

  touch(databaseId: string): void {
    this.#archiver.touch(databaseId);
  }

  willReplace(databaseId: string): Promise<void> {
    return this.#archiver.willReplace(databaseId);
  }

  forget(databaseId: string): Promise<void> {
    return this.#archiver.forget(databaseId);
  }

  get strain(): ArchiveHooks["strain"] {
    return this.#archiver.strain;
  }

  get figures(): ArchiveHooks["figures"] {
    return this.#archiver.figures;
  }

  status(databaseId: string): Promise<ArchiveStatus> {
    return this.#archiver.status(databaseId);
  }

  async firstMs(databaseId: string): Promise<number | null> {
    const found: (number | null | AppError)[] = [];
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new AppError("archive_unavailable")), FIRST_MS);
    const asked = this.withObjects(async (store) => {
      // An object that is damaged is no store that is away.
      const read = findFirstMs(store, databaseId).catch((error: unknown) => {
        if (error instanceof AppError) return error;
        throw error;
      });
      found.push(await read);
    });
    try {
      await Promise.race([asked, late]);
    } catch {
      throw new AppError("archive_unavailable");
    } finally {
      clearTimeout(timer);
      asked.catch(() => {});
    }
    const [first = null] = found;
    if (first instanceof AppError) throw first;
    return first;
  }

  late(): string[] {
    return this.#archiver.late();
  }

  toldLate(databaseId: string): void {
    this.#archiver.toldLate(databaseId);
  }

  withObjects(work: (store: ObjectStore) => Promise<void>, trust?: StoreTrust): Promise<void> {
    return this.#archiver.watch.ask(() => work(this.objects), trust);
  }

  async toSnapshot(
    databaseId: string,
    { atMs, label }: { readonly atMs: number; readonly label: string },
  ): Promise<void> {
    const { store, engineEnvironment } = this.options;
    const folder = `${store.files.scratch}/${crypto.randomUUID()}`;
    if (this.#building.has(databaseId) || this.#building.size >= BUILDS_AT_ONCE) {
      throw new AppError("database_busy", {
        message: "Try again shortly; another moment is being brought back",
      });
    }
    this.#building.add(databaseId);
    try {
      const end = await this.#archiver.flush(databaseId);
      const path = await buildMoment({
        store: this.objects,
        databaseId,
        atMs,
        end,
        folder,
        environment: engineEnvironment,
      });
      await store.files.adopt(databaseId, path, label);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("archive_unavailable");
    } finally {
      await removeIfThere(folder).finally(() => this.#building.delete(databaseId));
    }
  }

  async close(): Promise<void> {
    await this.#archiver.close();
    await this.#packer.close();
  }

  pathOf(databaseId: string): string {
    return databasePath(this.options.tenants, databaseId);
  }

  async *unread(isLeft: (databaseId: string) => Promise<boolean>): AsyncIterable<string> {
    for await (const databaseId of storedIds(this.options.tenants)) {
      if (await sizeOf(`${this.pathOf(databaseId)}-wal`) > 0 || await isLeft(databaseId)) yield databaseId;
    }
  }

  async holding(databaseId: string, work: (fold: FoldLog) => Promise<void>): Promise<void> {
    const { store } = this.options;
    const lanes = store.lanes({ databaseId, namespaceId: "" });
    if (lanes.held) throw new AppError("database_busy");
    const wake = () => store.wake(lanes);
    const lease = new WriteLease(lanes, wake, { waitMs: SLOT_MS, writerWaits: () => {} });
    await lease.taken;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Whoever replaces the file waits for this.
    const holder = { end: () => promise };
    lanes.transactions.add(holder);
    try {
      await work(async ({ keeps }) => {
        const { reply } = await store.task({ op: "fold_all", db: databaseId, keeps }, "leased", "");
        return reply.t === "folded" ? reply.frames : 0;
      });
    } finally {
      lanes.transactions.delete(holder);
      store.transactions.beginWaiting();
      lease.release();
      resolve();
    }
  }
}
