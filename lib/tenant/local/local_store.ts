// Tenant databases on this machine: hardened SQLite in child processes. One process of the service owns the folder.
import type { DatabaseIds } from "../../core/database_ids.ts";
import { DAY_MS } from "../../core/clock.ts";
import type { CopySource } from "../copy_source.ts";
import { AppError } from "../../core/errors.ts";
import { LOG_DELAY_MS } from "../../core/limits.ts";
import { type DiskReserve, tenantsReserve } from "../../store/disk_reserve.ts";
import { CommitNotices } from "../commit_notices.ts";
import type { DatabaseStorage } from "../damage.ts";
import { DEFAULT_LOG_BYTES } from "../log/log_buffer.ts";
import type { TransferStore } from "../transfer/transfer_store.ts";
import type { StoreStrain } from "../store_strain.ts";
import type { DatabaseFiles } from "../database_files.ts";
import type { LogIdentity, TenantDatabase, TenantStore } from "../tenant_store.ts";
import type { DatabaseRequest } from "./child/protocol.ts";
import { restartNeeded } from "./pool/child_starts.ts";
import type { DatabaseHost } from "./database_host.ts";
import type { DatabaseLanes } from "./lanes/database_lanes.ts";
import type { SharedLane } from "./lanes/jobs.ts";
import { DatabaseStates } from "./files/database_states.ts";
import type { ReplyFrame } from "./frames/reply_frames.ts";
import { ExclusiveWork } from "./exclusive_work.ts";
import type { ArchiveHooks } from "./archive_hooks.ts";
import type { KeyLookups } from "./lookups/key_lookups.ts";
import { LocalBranches } from "./local_branches.ts";
import { LocalDatabase } from "./local_database.ts";
import { LocalSnapshots } from "./local_snapshots.ts";
import { LocalTransfers } from "./local_transfers.ts";
import type { LocalStoreParts, LocalStoreSettings } from "./local_store_parts.ts";
import { localMetrics } from "./local_metrics.ts";
import { LogFlusher } from "./log/log_flusher.ts";
import { NewFiles } from "./files/new_files.ts";
import type { OpenTransactions } from "./transactions/open_transactions.ts";
import { LOOK_MS, RestingDatabases } from "./resting_databases.ts";
import { RoomProbe } from "./pool/disk_room.ts";
import { isIdle, sweepSlots } from "./pool/child_slot.ts";
import { makeFolder, removeAll } from "./files/tenant_paths.ts";
import { Watchdog } from "./pool/watchdog.ts";
import { pause } from "../../core/pause.ts";

/** Milliseconds between two rounds of closing what is unused. */
const SWEEP_MS = 30_000;
/** Milliseconds that a stop waits for work in flight. */
const STOP_MS = 10_000;
/** Milliseconds that a stop moves log rows into their tables; others are moved by the next process. */
const MOVE_MS = 1000;

/** The store of this machine. */
export class LocalStore implements TenantStore, DatabaseHost {
  readonly branches: LocalBranches;
  readonly states: DatabaseStates;
  readonly lookups: KeyLookups | null;
  /** Set once, before the first call. */
  archive: ArchiveHooks | null = null;
  readonly commits = new CommitNotices({ others: false });
  readonly metrics: TenantStore["metrics"] = () => localMetrics(this.parts, this.archive);
  readonly statementMs: number;
  readonly transactions: OpenTransactions;
  readonly transfers: TransferStore;
  readonly #lanes = new Map<string, DatabaseLanes>();
  readonly #watchdog: Watchdog;
  readonly #log: LogFlusher;
  readonly #snapshots: LocalSnapshots;
  readonly #newFiles: NewFiles;
  readonly #resting: RestingDatabases;
  readonly #room: RoomProbe;
  readonly #exclusive: ExclusiveWork;
  readonly reserve: DiskReserve;
  #reserveFilled: Promise<void>;
  readonly #timers: ReturnType<typeof setInterval>[];
  constructor(private readonly options: LocalStoreSettings, private readonly parts: LocalStoreParts) {
    const { scheduler, spool, tenants, memoryBytes, tempBytes } = parts;
    this.statementMs = options.queryTimeoutMs;
    this.transactions = parts.transactions;
    this.#room = new RoomProbe(tenants, options.clock);
    this.reserve = tenantsReserve(tenants);
    this.#reserveFilled = this.reserve.fill();
    scheduler.onFull = () => this.reserve.lend();
    this.#watchdog = new Watchdog(scheduler, {
      timeoutMs: this.statementMs,
      leftBytes: () => memoryBytes - this.transactions.heldBytes,
      tempBytes,
    });
    scheduler.onBusy = () => this.#watchdog.watch();
    scheduler.addChild();
    scheduler.onWrote = (databaseId, isLog) => this.wrote(databaseId, isLog);
    this.states = new DatabaseStates(tenants, options.clock);
    this.lookups = parts.lookups;
    scheduler.onDamage = (databaseId) => {
      this.states.reportDamage(databaseId);
      this.lookups?.leaveDamaged(databaseId);
    };
    const { clock, log, logDays, logBytes = DEFAULT_LOG_BYTES, snapshotDays } = options;
    this.#resting = new RestingDatabases({ host: this, scheduler, tenants, clock });
    this.#log = new LogFlusher({ host: this, spool, clock, log, logDays, logBytes });
    const keepMs = snapshotDays * DAY_MS;
    this.#snapshots = new LocalSnapshots({ ...parts, host: this, clock, log, keepMs });
    this.transfers = new LocalTransfers(this.#snapshots, parts.transferRoom);
    this.#exclusive = new ExclusiveWork(this, scheduler, clock);
    this.#newFiles = new NewFiles({
      tenants,
      makeInChild: (db) => this.task({ op: "create", db }, "write", ""),
    });
    this.branches = new LocalBranches(this, options.clock, (id) => this.#snapshots.pruning.prune(id));
    this.#timers = [
      setInterval(() => this.#log.flushAll(), LOG_DELAY_MS / 2),
      setInterval(() => void this.#resting.restSome(), LOOK_MS),
      setInterval(() => this.#sweep(), SWEEP_MS),
    ];
  }

  wrote(databaseId: string, isLog = false): void {
    this.archive?.touch(databaseId);
    this.#resting.note(databaseId, isLog);
  }

  async willReplace(databaseId: string): Promise<void> {
    await this.archive?.willReplace(databaseId);
  }

  get files(): DatabaseFiles {
    return this.#snapshots;
  }

  async create(databaseId: string): Promise<DatabaseStorage> {
    const sizeBytes = await this.#newFiles.make(databaseId);
    this.wrote(databaseId);
    return { sizeBytes, state: "ok" };
  }

  open(database: DatabaseIds): TenantDatabase {
    return new LocalDatabase(this, this.#snapshots, database, this.options.clock);
  }

  async copy(databaseId: string, from: CopySource<LogIdentity>): Promise<void> {
    await makeFolder(this.parts.tenants, databaseId);
    await this.#snapshots.copy(from, databaseId);
  }

  exclusively(request: DatabaseRequest, namespaceId: string): Promise<ReplyFrame> {
    if (this.branches.isRead(request.db)) return Promise.reject(new AppError("database_busy"));
    return this.#exclusive.run(this.lanes({ databaseId: request.db, namespaceId }), request);
  }

  async drop(databaseId: string): Promise<void> {
    const lanes = this.lanes({ databaseId, namespaceId: "" });
    lanes.dropped = true;
    lanes.rejectWaiting(new AppError("store_unavailable"));
    await this.transactions.endAll(lanes, "the database was deleted");
    lanes.log.end();
    await lanes.released; // what would put a file in place finds that the database is dropped, or has put it there
    await lanes.nothingRuns();
    this.lookups?.close(databaseId);
    await removeAll(this.parts.tenants, databaseId);
    await this.archive?.forget(databaseId);
    this.#forget(databaseId, lanes);
    this.#resting.forget(databaseId);
    // A child that has it open closes it when it is free: nobody waits for what others run there.
    void this.parts.scheduler.closeEverywhere(databaseId);
    void this.transactions.closeEverywhere(databaseId);
  }

  storageOf(databaseId: string): Promise<DatabaseStorage> {
    return this.states.storageOf(databaseId);
  }

  ready(): Promise<readonly StoreStrain[]> {
    const { scheduler } = this.parts;
    if (scheduler.stopping || (scheduler.slots.length === 0 && !scheduler.addChild())) {
      return Promise.reject(new AppError("store_unavailable"));
    }
    const { strain } = scheduler;
    if (strain === "none") return Promise.reject(restartNeeded());
    const behind = this.archive?.strain ?? null;
    const strains = [strain === null ? [] : ["restart_needed" as const], behind ?? []].flat();
    return this.#room.check().then(() => strains);
  }

  sweep(): Promise<void> {
    return this.#snapshots.pruning.sweep();
  }

  async close(): Promise<void> {
    this.parts.scheduler.stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#resting.close();
    await this.transfers.room.close();
    await this.transactions.stop(this.#lanes.values());
    const beganMs = this.options.clock.monotonicMs();
    for (let ms = 0; ms < STOP_MS; ms = this.options.clock.monotonicMs() - beganMs) {
      await pause(1);
      if (ms < MOVE_MS && this.#log.move(this.#lanes.values())) continue;
      if ([...this.#lanes.values()].every(({ mayEnd }) => mayEnd)) break;
    }
    await this.#log.close(this.#lanes.values());
    await this.archive?.close();
    this.lookups?.closeAll();
    await this.#snapshots.pruning.close();
    await this.#reserveFilled;
    await Promise.all(this.parts.scheduler.slots.map((slot) => {
      if (slot.flight) slot.child.kill();
      return slot.child.finish();
    }));
    // At last: whatever still ran was watched, and work that comes later, which no child takes any more, is not.
    this.parts.scheduler.onBusy = () => {};
    this.#watchdog.stop();
  }

  lanes({ databaseId, namespaceId }: DatabaseIds): DatabaseLanes {
    let lanes = this.#lanes.get(databaseId);
    if (!lanes) this.#lanes.set(databaseId, lanes = this.#log.newLanes(databaseId, namespaceId));
    lanes.namespaceId ||= namespaceId;
    return lanes;
  }

  get isQuiet(): boolean {
    return !this.lookups?.isBusy && isIdle(this.parts.scheduler);
  }

  wake(lanes: DatabaseLanes): void {
    this.parts.scheduler.wake(lanes);
  }

  task(request: DatabaseRequest, lane: SharedLane, namespaceId: string): Promise<ReplyFrame> {
    return new Promise((resolve, reject) => {
      const lanes = this.lanes({ databaseId: request.db, namespaceId });
      const queuedMs = this.options.clock.monotonicMs();
      lanes.addTask({ request, resolve, reject, queuedMs, crashes: 0 }, lane);
      this.wake(lanes);
    });
  }

  flushLog(lanes: DatabaseLanes): Promise<void> {
    return this.#log.flush(lanes);
  }

  #forget(databaseId: string, lanes: DatabaseLanes): void {
    this.#lanes.delete(databaseId);
    this.parts.scheduler.homes.forget(lanes);
  }

  /** Forgets what is idle, takes lent room back, and ends children that nobody needs; one stays. */
  #sweep(): void {
    for (const [id, lanes] of this.#lanes) if (lanes.idle) this.#forget(id, lanes);
    this.#reserveFilled = this.reserve.fill();
    this.lookups?.sweep();
    sweepSlots(this.parts.scheduler, this.options.clock.monotonicMs() - SWEEP_MS);
  }
}
