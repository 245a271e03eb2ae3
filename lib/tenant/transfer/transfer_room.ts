// The folders of transfers, and the jailed children that work in them: one folder and one child each.
import { CHILD_WORK_MS } from "../../core/limits_of_transfers.ts";
import { once } from "../../core/once.ts";
import { findParentTie, type ParentTie, startJailed } from "../jail/start_jailed.ts";
import { transferFiles, type TransferJob, type TransferReport } from "./job.ts";
import { lockFolder, unlockFolder } from "./process_folders.ts";
import { ifThere, removeIfThere } from "../../store/if_there.ts";

/** Megabytes of a child's JavaScript heap; what the engine holds is bounded by the child itself. */
const HEAP_MB = 256;
/** The system's bound behind both. V8 reserves about half of it without touching it. */
const DATA_KIB = 2 * 1024 * 1024;

/** A child at work. */
export interface TransferRun {
  readonly process: Deno.ChildProcess;
  /** The last report, once the child has ended, whatever ended it. Never rejects. */
  readonly ended: Promise<TransferReport>;
  /** Ends the child at once. */
  kill(): void;
}

/** What this needs of the process. */
export interface TransferRoomOptions {
  /** Made if missing, and emptied: no transfer outlives the process. */
  readonly folder: string;
  /** Whether other processes have folders beside it. */
  readonly isShared?: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly parentTie?: ParentTie;
}

/** Where transfers work. */
export class TransferRoom {
  readonly #running = new Set<TransferRun>();
  readonly #tie = once(() => {
    const { parentTie } = this.options;
    return parentTie === undefined ? findParentTie() : Promise.resolve(parentTie);
  });
  /** The folder's lock, from the first transfer on. */
  #held: Deno.FsFile | null = null;
  readonly #lock = once(async () => this.#held = await lockFolder(this.options.folder));

  constructor(private readonly options: TransferRoomOptions) {}

  /** Removes what an earlier process has left. */
  async clear(): Promise<void> {
    await removeIfThere(this.options.folder);
  }

  folderOf(transferId: string): string {
    return `${this.options.folder}/${transferId}`;
  }

  async make(transferId: string): Promise<void> {
    if (this.options.isShared) await this.#lock();
    await Deno.mkdir(this.folderOf(transferId), { recursive: true, mode: 0o700 });
  }

  async remove(transferId: string): Promise<void> {
    await removeIfThere(this.folderOf(transferId));
  }

  /** Starts a child in the transfer's folder. One that waits for nobody else is ended where its work takes too long. */
  async start(transferId: string, job: TransferJob): Promise<TransferRun> {
    const run = await this.startIn(this.folderOf(transferId), job);
    if (waitsForOthers(job)) return run;
    const late = setTimeout(() => run.kill(), CHILD_WORK_MS);
    run.ended.then(() => clearTimeout(late));
    return run;
  }

  /** The same in any folder of a transfer, for as long as it takes. */
  async startIn(folder: string, job: TransferJob): Promise<TransferRun> {
    const { environment } = this.options;
    const process = startJailed({
      program: new URL("./child/main.ts", import.meta.url).href,
      args: [folder, JSON.stringify(job)],
      paths: [folder],
      heapMb: HEAP_MB,
      dataKib: DATA_KIB,
      parentTie: await this.#tie(),
      // The engine's own temporary files belong into the folder too.
      environment: { ...environment, SQLITE_TMPDIR: folder },
    });
    let isGivenUp = false;
    const run: TransferRun = {
      process,
      ended: process.status.then(({ success, signal }) =>
        this.#lastReport(folder, success, !isGivenUp && ENDINGS.has(signal ?? ""))
      ),
      kill: () => {
        isGivenUp = true;
        kill(process);
      },
    };
    this.#running.add(run);
    run.ended.then(() => this.#running.delete(run));
    return run;
  }

  /** How far the child is; null: it has said nothing yet. */
  async report(transferId: string): Promise<TransferReport | null> {
    return await ifThere(readReport(this.folderOf(transferId)));
  }

  /** Ends all children. */
  async close(): Promise<void> {
    const running = [...this.#running];
    for (const { process } of running) kill(process);
    await Promise.all(running.map(({ ended }) => ended));
    await this.clear();
    if (this.#held !== null) await unlockFolder(this.options.folder, this.#held);
    this.#held = null;
  }

  /** A child that was killed, or whose disk was full, leaves no last report. */
  async #lastReport(folder: string, success: boolean, byOthers: boolean): Promise<TransferReport> {
    const report = await readReport(folder).catch(() => null);
    if (report !== null && report.state !== "running" && (report.state === "failed" || success)) {
      return report;
    }
    const failure = { message: "the process ended", at: null, kind: byOthers ? "ended" : "fault" } as const;
    return { ...NOTHING, ...report, state: "failed", failure };
  }
}

/** Signals by which a system, a terminal or a manager of services ends a process. By others it ends itself. */
const ENDINGS: ReadonlySet<string> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);

/** A text is as slow as the client that takes it, and a copy as the server whose database is read. */
function waitsForOthers(job: TransferJob): boolean {
  return job.do === "copy" || job.do === "export" && job.format !== "sqlite";
}

const NOTHING = { tables: 0, rows: 0, notKept: [] } as const;

function kill(process: Deno.ChildProcess): void {
  try {
    process.kill("SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

async function readReport(folder: string): Promise<TransferReport> {
  return parseReport(await Deno.readTextFile(`${folder}/${transferFiles.report}`));
}

/** Guarantee: a transfer child has written the report. */
function parseReport(json: string): TransferReport {
  return JSON.parse(json);
}
