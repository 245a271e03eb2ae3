// What a run was made on: figures without it cannot be compared with others.
import { DatabaseSync } from "node:sqlite";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMb: number;
  readonly kernel: string;
  readonly deno: string;
  readonly sqlite: string;
  /** Of this repository; with `+` where files differ from it. */
  readonly commit: string;
  readonly at: string;
  /** What generates the load. */
  readonly load: string;
}

/** Describes this machine and what runs on it. `root`: the repository. */
export async function describeMachine(root: string, load: string): Promise<Machine> {
  return {
    cpu: cpuName(),
    cores: navigator.hardwareConcurrency,
    memoryMb: Math.round(Deno.systemMemoryInfo().total / 1024 / 1024),
    kernel: Deno.osRelease(),
    deno: Deno.version.deno,
    sqlite: sqliteVersion(),
    commit: await commitOf(root),
    at: new Date().toISOString(),
    load,
  };
}

/** The commit of a checkout, short. */
export async function commitOf(root: string): Promise<string> {
  const [commit, changes] = [
    await git(root, ["rev-parse", "--short=12", "HEAD"]),
    await git(root, ["status", "--porcelain"]),
  ];
  return changes === "" ? commit : `${commit}+`;
}

/** Runs git in a folder and returns what it prints. Throws with its words. */
export async function git(folder: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args: ["-C", folder, ...args] })
    .output();
  if (!success) throw new Error(`git ${args[0]}: ${new TextDecoder().decode(stderr).trim()}`);
  return new TextDecoder().decode(stdout).trim();
}

function cpuName(): string {
  try {
    return /^model name\s*: (.+)$/m.exec(Deno.readTextFileSync("/proc/cpuinfo"))?.[1] ?? Deno.build.arch;
  } catch {
    return Deno.build.arch;
  }
}

function sqliteVersion(): string {
  const database = new DatabaseSync(":memory:");
  const row = database.prepare("SELECT sqlite_version() AS version").get();
  database.close();
  return String(row?.["version"]);
}
