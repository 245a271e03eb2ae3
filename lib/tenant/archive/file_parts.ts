// Reads parts of a database's files. The process that does never opens them by the engine, whose locks would be lost.
import { readWalHead, WAL_HEAD_BYTES, type WalHead } from "../wal_frames.ts";
import { ifThere } from "../../store/if_there.ts";

/** A text that is another one when the file is, or has changed: `dev:ino:size:mtime`; null where it is missing or empty. */
export async function fileState(path: string): Promise<string | null> {
  const found = await ifThere(Deno.stat(path));
  if (found === null || found.size === 0) return null;
  const { dev, ino, size, mtime } = found;
  return `${dev}:${ino}:${size}:${mtime?.getTime() ?? 0}`;
}

/** The head of a database's log; null: there is no log, or nothing is in it. */
export async function readLogHead(path: string): Promise<WalHead | null> {
  const head = await ifThere(readPart(`${path}-wal`, 0, WAL_HEAD_BYTES));
  return head && readWalHead(head);
}

/** Reads `length` bytes, or as many as there are. */
export async function readPart(path: string, from: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path);
  await file.seek(from, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const read = await file.read(bytes.subarray(filled));
    if (read === null) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

/** Reads into `bytes` as far as there is something, and answers how many that are. Nothing else runs meanwhile. */
export function readInto(file: Deno.FsFile, from: number, bytes: Uint8Array): number {
  file.seekSync(from, Deno.SeekMode.Start);
  let filled = 0;
  while (filled < bytes.length) {
    const read = file.readSync(bytes.subarray(filled));
    if (read === null) break;
    filled += read;
  }
  return filled;
}
