// The imports of this process that their callers have named: how far each is, how it ended, and how it is cancelled.
import { type Clock, isoTime } from "../../core/clock.ts";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { importLimits } from "../../core/limits_of_transfers.ts";
import type { TransferRoom } from "../../tenant/transfer/transfer_room.ts";
import { refused } from "./check_item.ts";

/** What is imported, and how. */
export interface NamedImport {
  /** The caller's own; null: nobody asks for it. */
  readonly id: string | null;
  readonly format: "sqlite" | "sql";
  readonly mode: "create" | "replace";
}

/** An import as the API shows it. */
export interface ImportView extends Omit<NamedImport, "id"> {
  readonly id: string;
  readonly state: KeptImport["state"];
  readonly receivedBytes: number;
  /** Built so far. */
  readonly tables: number;
  readonly rows: number;
  /** Of what it has failed for. */
  readonly code: ErrorCode | null;
  readonly startedAt: string;
}

/** One import. */
export class KeptImport {
  /** Placing cannot be cancelled. */
  state: "receiving" | "waiting" | "building" | "placing" | "done" | "failed" = "receiving";
  receivedBytes = 0;
  built = { tables: 0, rows: 0 };
  code: ErrorCode | null = null;
  readonly #cancelled = new AbortController();

  constructor(
    readonly named: NamedImport,
    /** The folder in which the database is built. */
    readonly builds: string,
    readonly startedMs: number,
  ) {}

  /** Aborts with `import_cancelled`. */
  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  get isRunning(): boolean {
    return this.state !== "done" && this.state !== "failed";
  }

  /** Goes on to another stage. Errors: `import_cancelled`. */
  begin(state: "waiting" | "building" | "placing"): void {
    this.signal.throwIfAborted();
    this.state = state;
  }

  /** Ends it with what is answered. */
  done<Told extends KeptImport["built"]>(told: Told): Told {
    const { tables, rows } = told;
    this.built = { tables, rows };
    this.state = "done";
    return told;
  }

  /** Whether it will change nothing. */
  cancel(): boolean {
    if (this.state === "placing" || !this.isRunning) return false;
    this.#cancelled.abort(new AppError("import_cancelled"));
    return true;
  }
}

/** All of them. */
export class KeptImports {
  readonly #kept = new Map<string, KeptImport>();

  constructor(private readonly room: TransferRoom, private readonly clock: Clock) {}

  /** Errors: `import_refused` where the id is taken. */
  begin({ id, format, mode }: NamedImport, databaseId: string, builds: string): KeptImport {
    // What else the caller's object has, as the body, is not kept for an hour.
    const named = { id, format, mode };
    const made = new KeptImport(named, builds, this.clock.now());
    if (id === null) return made;
    const key = keyOf(databaseId, id);
    const former = this.#find(key);
    if (former !== null && former.state !== "failed") {
      throw refused(`Choose another id; the import with this one is ${former.state}`, "id");
    }
    this.#kept.delete(key);
    this.#kept.set(key, made);
    const ended = [...this.#kept].filter(([, one]) => !one.isRunning);
    for (const [old] of ended.slice(0, Math.max(0, ended.length - importLimits.keptEnded))) {
      this.#kept.delete(old);
    }
    return made;
  }

  /** How far it is. Errors: `import_not_found`. */
  async view(databaseId: string, id: string): Promise<ImportView> {
    const { named: { format, mode }, builds, built, state, receivedBytes, code, startedMs } = this.find(
      databaseId,
      id,
    );
    const { tables, rows } = state === "building" ? await this.room.report(builds) ?? built : built;
    return {
      id,
      format,
      mode,
      state,
      receivedBytes,
      tables,
      rows,
      code,
      startedAt: isoTime(startedMs),
    };
  }

  /** Errors: `import_not_found`. */
  find(databaseId: string, id: string): KeptImport {
    const found = this.#find(keyOf(databaseId, id));
    if (found === null) throw new AppError("import_not_found");
    return found;
  }

  #find(key: string): KeptImport | null {
    const found = this.#kept.get(key);
    const isOld = found !== undefined && !found.isRunning &&
      this.clock.now() - found.startedMs >= importLimits.keepMs;
    return found === undefined || isOld ? null : found;
  }
}

function keyOf(databaseId: string, id: string): string {
  return `${databaseId} ${id}`;
}
