// Starts the process of an engine child.
import { type ParentTie, startJailed } from "../../jail/start_jailed.ts";

/** Megabytes of JavaScript heap of a child: the last bound, behind the watchdog's; SQLite's memory has its own. */
const CHILD_HEAP_MB = 512;
/**
 * Megabytes of each half of a child's young heap. V8 by itself takes more, which a busy child fills with garbage only; with four
 * a result of 99,000 rows takes a third more processor time, and one of 10,000 rows no more.
 */
const CHILD_YOUNG_MB = 4;

/**
 * The bound of a child's data behind the watchdog's. A child counts 1.1 GiB from its start, nearly all of it reserved by V8
 * for two threads and never touched.
 */
const CHILD_DATA_KIB = 2 * 1024 * 1024;

/** What the command line depends on. */
export interface EngineProcessOptions {
  readonly tenantsDirectory: string;
  readonly progressPath: string;
  readonly parentTie: ParentTie;
  /** Bytes of open files that a child keeps for later calls. */
  readonly keepBytes: number;
  /** Nobody but the service decides when write-ahead logs are folded in. */
  readonly keepsLogs?: boolean;
  /** What Deno itself needs to find its compile cache; the child's code has no access to it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a child that may touch the tenants' folder and its progress file, and nothing else. */
export function startEngineProcess(options: EngineProcessOptions): Deno.ChildProcess {
  const { tenantsDirectory, progressPath, parentTie, keepBytes, keepsLogs = false, environment } = options;
  return startJailed({
    program: new URL("../child/main.ts", import.meta.url).href,
    args: [tenantsDirectory, progressPath, String(keepBytes), String(keepsLogs)],
    paths: [tenantsDirectory, progressPath],
    heapMb: CHILD_HEAP_MB,
    youngMb: CHILD_YOUNG_MB,
    // A child starts in 64 ms instead of 75.
    codeCache: false,
    dataKib: CHILD_DATA_KIB,
    parentTie,
    environment,
  });
}
