// Starts a jailed process: its permissions, its hard bound on memory, and what ends it when the service dies.

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

// As many descriptors as the system lets a process have, and their number as the last argument.
const RUN = 'ulimit -n "$(ulimit -Hn)" 2>/dev/null; exec "$@" "$(ulimit -n)"';

// The shell becomes the engine (`exec`), so that killing the shell's process id kills the engine. The loop that it leaves
// behind checks once a second whether the service still runs, and kills the engine if not.
const WATCHER =
  'service=$PPID; engine=$$; (while kill -0 "$service" && kill -0 "$engine"; do sleep 1; done; ' +
  'kill -0 "$service" || kill -9 "$engine") >/dev/null 2>&1 </dev/null & ' + RUN;

/** A program and its bounds. */
export interface JailedProgram {
  /** Address of its main module. */
  readonly program: string;
  /** Its arguments; the number of its file descriptors follows them. */
  readonly args: readonly string[];
  /** The only paths that it may touch. */
  readonly paths: readonly string[];
  /** Further ones that it may read. */
  readonly reads?: readonly string[];
  /** Megabytes of its JavaScript heap. */
  readonly heapMb: number;
  /** Megabytes of each half of its young generation; absent: as many as V8 takes. */
  readonly youngMb?: number;
  /** Whether Deno caches its compiled code; absent: yes. For many small modules looking it up takes longer than compiling. */
  readonly codeCache?: boolean;
  /** KiB of data that the system lets it have (`ulimit -d`); only Linux enforces it. */
  readonly dataKib: number;
  readonly parentTie: ParentTie;
  /** What Deno itself needs to find its compile cache; the program has no access to it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a program that may touch its paths and nothing else: no network, no environment, no other program. */
export function startJailed(
  { program, args, paths, reads = [], heapMb, youngMb, codeCache = true, dataKib, parentTie, environment }:
    JailedProgram,
): Deno.ChildProcess {
  const young = youngMb === undefined ? "" : `--max-semi-space-size=${youngMb},`;
  const command = [
    Deno.execPath(),
    "run",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--no-prompt",
    "--quiet",
    ...codeCache ? [] : ["--no-code-cache"],
    `--v8-flags=--max-old-space-size=${heapMb},${young}--expose-gc`,
    `--allow-read=${[...paths, ...reads].join(",")}`,
    `--allow-write=${paths.join(",")}`,
    program,
    ...args,
  ];
  const bounded = boundOf(dataKib);
  const tied = parentTie === "pdeathsig"
    ? ["setpriv", "--pdeathsig", "KILL", "sh", "-c", bounded + RUN, "sh", ...command]
    : ["sh", "-c", bounded + WATCHER, "sh", ...command];
  return new Deno.Command(tied[0] ?? "", {
    args: tied.slice(1),
    clearEnv: true,
    env: { ...environment, NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

/** Sets the bound, unless the system has a lower one already. Where it cannot be set, the program does not start. */
function boundOf(kib: number): string {
  if (Deno.build.os !== "linux") return "";
  return `ulimit -d ${kib} 2>/dev/null || [ "$(ulimit -Hd)" -lt ${kib} ] || exit 1; `;
}
