// What the embedded store is opened with.
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { ParentTie } from "./engine_process.ts";

/** The options of the embedded store. */
export interface LocalStoreOptions {
  readonly dataDirectory: string;
  /** KV knows nothing yet, so that no database can be there. */
  readonly newHere?: boolean;
  /** Milliseconds that one statement may run. */
  readonly queryTimeoutMs: number;
  /** Days that log and audit rows are kept. */
  readonly logDays: number;
  /** Bytes that query log and calls may have in one database. Default: `DEFAULT_LOG_BYTES`. */
  readonly logBytes?: number;
  /** Days that snapshots are kept. */
  readonly snapshotDays: number;
  readonly clock: Clock;
  readonly log: Log;
  /** What Deno needs of the environment to start a child (`HOME`, `DENO_DIR`). */
  readonly engineEnvironment: Readonly<Record<string, string>>;
  /** MB that all children may hold together. Default: see `findEngineMemory`. */
  readonly engineMemoryMb?: number | null;
  readonly maxChildren?: number;
  /** Tests force the portable way. */
  readonly parentTie?: ParentTie;
}
