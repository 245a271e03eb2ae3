// The exports of this process: what each of them is, how far it is, and the copy that it is read from, which is kept for an
// hour.
import type { Clock } from "../../core/clock.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { exportLimits } from "../../core/limits_of_transfers.ts";
import type { ExportFormat, TransferReport } from "../../tenant/transfer/job.ts";
import type { TransferRoom, TransferRun } from "../../tenant/transfer/transfer_room.ts";
import { KeptImports } from "./kept_imports.ts";
import { TransferPlaces } from "./transfer_places.ts";

/** What is exported, and how. */
export interface ExportInput {
  readonly format: ExportFormat;
  readonly table: string | null;
  readonly safe: boolean;
}

/** Whose database it is, and who asked for the export. */
export interface ExportOwner {
  readonly databaseId: string;
  readonly namespaceId: string;
  readonly callerId: string;
}

/** An export as the API shows it. */
export interface ExportView extends ExportInput {
  readonly id: string;
  readonly state: KeptExport["state"];
  readonly tables: number;
  readonly rows: number;
  /** Bytes written to clients so far, repetitions included. */
  readonly sentBytes: number;
  /** Of a finished SQLite file. */
  readonly sizeBytes: number | null;
  readonly notKept: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** One export. */
export class KeptExport {
  state: "copying" | "writing" | "ready" | "failed" = "copying";
  report: TransferReport | null = null;
  run: TransferRun | null = null;
  /** A child is about to start. */
  starts = false;
  sentBytes = 0;
  sizeBytes: number | null = null;
  /** Answers that are being sent. */
  readers = 0;
  /** When its child started, by the monotonic clock, and what had been sent by then. */
  begun = { atMs: 0, sentBytes: 0 };
  /** Breaks the answer off; null where none is on its way. */
  breakOff: ((errorKind: string) => void) | null = null;
  /** Its answer was broken off for others: its child is ending. */
  gaveWay = false;

  constructor(
    readonly id: string,
    readonly owner: ExportOwner,
    readonly input: ExportInput,
    readonly createdAtMs: number,
  ) {}

  get expiresAtMs(): number {
    return this.createdAtMs + exportLimits.keepMs;
  }
}

/** All exports of a process. */
export class KeptExports {
  readonly #kept = new Map<string, KeptExport>();
  readonly imports: KeptImports;
  readonly places: TransferPlaces;

  constructor(private readonly room: TransferRoom, private readonly clock: Clock) {
    this.imports = new KeptImports(room, clock);
    this.places = new TransferPlaces(clock, {
      namespaces: () => this.#working().map(({ owner }) => owner.namespaceId),
      endSlow: (namespaceId) => this.#endSlow(namespaceId),
    });
  }

  /** To be called when its child starts. */
  noteStart(kept: KeptExport): void {
    kept.begun = { atMs: this.clock.monotonicMs(), sentBytes: kept.sentBytes };
    kept.gaveWay = false;
  }

  /** Errors: `too_many_transfers`, `storage_full`. */
  async begin(owner: ExportOwner, input: ExportInput): Promise<KeptExport> {
    this.places.requireRoom(owner.namespaceId);
    const nowMs = this.clock.now();
    const made = new KeptExport(newId("exp", nowMs), owner, input, nowMs);
    this.#kept.set(made.id, made);
    try {
      await this.#prune(made);
      await this.room.make(made.id);
      return made;
    } catch {
      this.#kept.delete(made.id);
      throw new AppError("storage_full");
    }
  }

  /** Errors: `export_not_found`. */
  find(id: string, databaseId: string): KeptExport {
    const found = this.#kept.get(id);
    const lives = found !== undefined && found.owner.databaseId === databaseId &&
      this.clock.now() < found.expiresAtMs;
    if (!lives) throw new AppError("export_not_found");
    return found;
  }

  /** How far it is. Errors: `export_not_found`. */
  async view(id: string, databaseId: string): Promise<ExportView> {
    const found = this.find(id, databaseId);
    const report = found.run === null ? found.report : await this.room.report(id) ?? found.report;
    const { tables = 0, rows = 0, notKept = [] } = report ?? {};
    const { state, sentBytes, sizeBytes, input, createdAtMs, expiresAtMs } = found;
    return {
      id,
      ...input,
      state,
      tables,
      rows,
      sentBytes,
      sizeBytes,
      notKept,
      createdAt: isoTime(createdAtMs),
      expiresAt: isoTime(expiresAtMs),
    };
  }

  /** Ends its work and removes its copy. Errors: `export_not_found`. */
  async cancel(id: string, databaseId: string): Promise<void> {
    await this.#remove(this.find(id, databaseId));
  }

  /** Removes an export that has failed. */
  async fail(failed: KeptExport): Promise<void> {
    failed.state = "failed";
    await this.room.remove(failed.id);
  }

  /** Removes copies that are old, or too many beside `newest`. */
  async sweep(): Promise<void> {
    await this.#prune(null);
  }

  #working(): KeptExport[] {
    return [...this.#kept.values()].filter((one) =>
      (one.run !== null && !one.gaveWay) || one.starts || one.state === "copying"
    );
  }

  /** Breaks off the text whose client takes least. What was copied stays, for another download. */
  #endSlow(namespaceId: string | null): boolean {
    const slow = this.#working().filter((one) =>
      one.breakOff !== null && one.input.format !== "sqlite" && this.#isSlow(one) &&
      (namespaceId === null || one.owner.namespaceId === namespaceId)
    );
    const [slowest] = slow.toSorted((a, b) => this.#bytesPerSec(a) - this.#bytesPerSec(b));
    if (slowest === undefined) return false;
    slowest.gaveWay = true;
    slowest.breakOff?.("too_many_transfers");
    return true;
  }

  #isSlow(one: KeptExport): boolean {
    const { slowAfterMs, slowBytesPerSec } = exportLimits;
    return this.clock.monotonicMs() - one.begun.atMs >= slowAfterMs &&
      this.#bytesPerSec(one) < slowBytesPerSec;
  }

  #bytesPerSec({ sentBytes, begun }: KeptExport): number {
    return (sentBytes - begun.sentBytes) / (this.clock.monotonicMs() - begun.atMs) * 1000;
  }

  async #prune(newest: KeptExport | null): Promise<void> {
    const nowMs = this.clock.now();
    const idle = [...this.#kept.values()].filter((one) =>
      one !== newest && one.run === null && !one.starts && one.state !== "copying" && one.readers === 0
    );
    const old = idle.filter((one) => nowMs >= one.expiresAtMs);
    const left = idle.filter((one) => !old.includes(one));
    const tooMany = newest === null ? [] : [
      ...surplus(
        [...left.filter(({ owner }) => owner.databaseId === newest.owner.databaseId), newest],
        exportLimits.keptOfDatabase,
        ({ owner }) => owner.callerId,
      ),
      ...surplus([...left, newest], exportLimits.kept, ({ owner }) => owner.namespaceId),
    ];
    for (const one of new Set([...old, ...tooMany])) await this.#remove(one);
  }

  async #remove(gone: KeptExport): Promise<void> {
    this.#kept.delete(gone.id);
    gone.run?.kill();
    await gone.run?.ended;
    await this.room.remove(gone.id);
  }
}

/**
 * Those of `kept`, oldest first, that make room for its last one where more than `most` are kept: the oldest of whoever has most
 * of them, so that nobody pushes out all that others have by making many.
 */
function surplus(
  kept: readonly KeptExport[],
  most: number,
  whose: (one: KeptExport) => string,
): KeptExport[] {
  const gone: KeptExport[] = [];
  for (let left = kept; left.length > most; left = kept.filter((one) => !gone.includes(one))) {
    const counts = Map.groupBy(left, whose);
    const largest = Math.max(...counts.values().map(({ length }) => length));
    const oldest = left.slice(0, -1).find((one) => counts.get(whose(one))?.length === largest);
    if (oldest === undefined) break;
    gone.push(oldest);
  }
  return gone;
}
