// Starts the process of an engine child: its permissions, its hard bound on memory, and what ends it when the service dies.

/** Megabytes of JavaScript heap of a child: the last bound, behind the watchdog's; SQLite's memory has its own. */
const CHILD_HEAP_MB = 512;

/**
 * KiB of data that the system lets a child have (`ulimit -d`): the bound behind the watchdog's. A child counts 1.1 GiB from
 * its start, nearly all of it reserved by V8 for two threads and never touched. Only Linux enforces this bound.
 */
const CHILD_DATA_KIB = 2 * 1024 * 1024;

/** How a child is made to die with the service, also when the service is killed in the middle of a statement. */
export type ParentTie = "pdeathsig" | "watcher";

/** `pdeathsig` where util-linux's setpriv can set it (the kernel does the rest), else a watching shell. */
export async function findParentTie(): Promise<ParentTie> {
  if (Deno.build.os !== "linux") return "watcher";
  try {
    const { success } = await new Deno.Command("setpriv", {
      args: ["--pdeathsig", "KILL", "true"],
      stdout: "null",
      stderr: "inherit",
    })
      .output();
    return success ? "pdeathsig" : "watcher";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "watcher";
    throw error;
  }
}

/** Sets the bound, unless the system has a lower one already. Where it cannot be set, the child does not start. */
const BOUNDED = Deno.build.os === "linux"
  ? `ulimit -d ${CHILD_DATA_KIB} 2>/dev/null || [ "$(ulimit -Hd)" -lt ${CHILD_DATA_KIB} ] || exit 1; `
  : "";

// As many descriptors as the system lets a process have, and their number as the last argument.
const RUN = 'ulimit -n "$(ulimit -Hn)" 2>/dev/null; exec "$@" "$(ulimit -n)"';

// The shell becomes the engine (`exec`), so that killing the shell's process id kills the engine. The loop that it leaves
// behind checks once a second whether the service still runs, and kills the engine if not.
const WATCHER =
  'service=$PPID; engine=$$; (while kill -0 "$service" && kill -0 "$engine"; do sleep 1; done; ' +
  'kill -0 "$service" || kill -9 "$engine") >/dev/null 2>&1 </dev/null & ' + RUN;

/** What the command line depends on. */
export interface EngineProcessOptions {
  readonly tenantsDirectory: string;
  readonly progressPath: string;
  readonly parentTie: ParentTie;
  /** Bytes of open files that a child keeps for later calls. */
  readonly keepBytes: number;
  /** What Deno itself needs to find its compile cache; the child's code has no access to it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a child that may touch the tenants' folder and its progress file, and nothing else. */
export function startEngineProcess(options: EngineProcessOptions): Deno.ChildProcess {
  const allowed = `${options.tenantsDirectory},${options.progressPath}`;
  const engine = [
    Deno.execPath(),
    "run",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--no-prompt",
    "--quiet",
    `--v8-flags=--max-old-space-size=${CHILD_HEAP_MB},--expose-gc`,
    `--allow-read=${allowed}`,
    `--allow-write=${allowed}`,
    new URL("./child/main.ts", import.meta.url).href,
    options.tenantsDirectory,
    options.progressPath,
    String(options.keepBytes),
  ];
  const tied = options.parentTie === "pdeathsig"
    ? ["setpriv", "--pdeathsig", "KILL", "sh", "-c", BOUNDED + RUN, "sh", ...engine]
    : ["sh", "-c", BOUNDED + WATCHER, "sh", ...engine];
  return new Deno.Command(tied[0] ?? "", {
    args: tied.slice(1),
    clearEnv: true,
    env: { ...options.environment, NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}
