// Disks that are really full: a small file system of its own, which root can mount, and where nobody is root a limit on
// the size of files that is put on the running service and its children.
import { childrenOf } from "./process_tree.ts";

export interface SmallDisk {
  readonly kind: "file system" | "limit of file sizes";
  /** Where the service's `DATA_DIR` is. */
  readonly folder: string;
  /** What the service is to be started through. */
  readonly launcher: readonly string[];
  /** The same, so that the disk is full from the first moment on. */
  readonly launcherWhenFull: readonly string[];
  /** From now on nothing takes more room, for the process and its children. */
  fill(pid: number): Promise<void>;
  /** From now on the children of the process can write to no file at all; absent: this disk cannot do that. */
  readonly refuse?: (pid: number) => Promise<void>;
  /** Of a full one, frees about so many bytes; absent: this disk cannot do that. */
  readonly leave?: (bytes: number) => Promise<void>;
  makeRoom(pid: number): Promise<void>;
  remove(): Promise<void>;
}

/** Bytes of the file system. */
const SIZE = 24 * 1024 * 1024;
/** Bytes up to which a file can be written on a full disk: room that the small ones of SQLite have already. */
const LIMIT = 40 * 1024;

/** Every way that this machine has; on Linux at least one. */
export async function smallDisks(): Promise<SmallDisk[]> {
  const disks = [await mounted(), await limited()];
  return disks.filter((disk) => disk !== null);
}

async function mounted(): Promise<SmallDisk | null> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_disk_" });
  if (Deno.uid() !== 0 || !await succeeds("mount", "-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", folder)) {
    await Deno.remove(folder);
    return null;
  }
  const filler = `${folder}/filler`;
  return {
    ...{ kind: "file system", folder: `${folder}/data`, launcher: [], launcherWhenFull: [] },
    fill: async () => {
      using file = await Deno.open(filler, { create: true, append: true });
      try {
        for (;;) await file.write(new Uint8Array(4096));
      } catch (error) {
        if (!(error instanceof Error && Reflect.get(error, "code") === "ENOSPC")) throw error;
      }
    },
    leave: async (bytes) => await Deno.truncate(filler, (await Deno.stat(filler)).size - bytes),
    makeRoom: () => Deno.remove(filler),
    remove: async () => {
      await succeeds("umount", "-l", folder);
      await Deno.remove(folder);
    },
  };
}

async function limited(): Promise<SmallDisk | null> {
  if (Deno.build.os !== "linux" || !await succeeds("prlimit", "--version")) return null;
  const folder = await Deno.makeTempDir({ prefix: "cubby_disk_" });
  const limit = async (pids: readonly number[], bytes: string) => {
    for (const one of pids) await succeeds("prlimit", "--pid", String(one), `--fsize=${bytes}:unlimited`);
  };
  const limitAll = async (pid: number, bytes: string) => limit([pid, ...await childrenOf(pid)], bytes);
  return {
    ...{ kind: "limit of file sizes", folder },
    // A process that does not ignore the signal is ended by it.
    launcher: ["sh", "-c", 'trap "" XFSZ; exec "$@"', "sh"],
    // In blocks of 512 bytes.
    launcherWhenFull: ["sh", "-c", `trap "" XFSZ; ulimit -S -f ${LIMIT / 512}; exec "$@"`, "sh"],
    fill: (pid) => limitAll(pid, String(LIMIT)),
    refuse: async (pid) => limit(await childrenOf(pid), "0"),
    makeRoom: (pid) => limitAll(pid, "unlimited"),
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}

async function succeeds(command: string, ...args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}
