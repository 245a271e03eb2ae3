// How far a write-ahead log goes. A log that was folded into its file begins again at its start, so that what stands behind
// its last frame may be of an earlier one: its file does not tell.
import { FRAME_HEAD_BYTES, readWalHead, WAL_HEAD_BYTES, type WalHead } from "./wal_frames.ts";

/** Frames that somebody has read of the log with these salts. */
export interface FramesRead {
  readonly salts: string;
  readonly frames: number;
}

const NONE: FramesRead = { salts: "", frames: 0 };

/** Whether the log at `path` has so many bytes of frames, or more, behind those that were read; false where there is none. */
export function logReaches(path: string, bytes: number, read: FramesRead = NONE): boolean {
  // Most are short: then this is all that is asked of the system.
  if (sizeOf(path) < bytes) return false;
  using log = openLog(path);
  if (log === null) return false;
  const first = log.head.salts === read.salts ? read.frames : 0;
  return isFrame(log, first + Math.max(1, Math.ceil(bytes / frameBytes(log.head))));
}

/** Cuts off what stands behind the last frame of the log at `path`, which nobody uses. */
export function trimLog(path: string): void {
  using log = openLog(path, { write: true });
  if (log === null) return;
  const bytes = frameBytes(log.head);
  let least = 0;
  let most = Math.floor((log.file.statSync().size - WAL_HEAD_BYTES) / bytes);
  while (least < most) {
    const at = Math.ceil((least + most) / 2);
    if (isFrame(log, at)) least = at;
    else most = at - 1;
  }
  log.file.truncateSync(WAL_HEAD_BYTES + least * bytes);
}

interface OpenLog extends Disposable {
  readonly file: Deno.FsFile;
  readonly head: WalHead;
}

function openLog(path: string, { write = false } = {}): OpenLog | null {
  using opened = new DisposableStack();
  const file = opened.use(openFile(path, { read: true, write }));
  const head = file && readWalHead(readAt(file, 0, WAL_HEAD_BYTES));
  if (file === null || head === null) return null;
  const kept = opened.move();
  return { file, head, [Symbol.dispose]: () => kept.dispose() };
}

/** 0 where there is none. */
function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

function openFile(path: string, options: Deno.OpenOptions): Deno.FsFile | null {
  try {
    return Deno.openSync(path, options);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Whether the frame of that number, the first is 1, is of this log: they stand in a row from its start. */
function isFrame({ file, head }: OpenLog, number: number): boolean {
  const at = WAL_HEAD_BYTES + (number - 1) * frameBytes(head);
  return readAt(file, at, FRAME_HEAD_BYTES).subarray(8, 16).toHex() === head.salts;
}

function frameBytes({ pageBytes }: WalHead): number {
  return FRAME_HEAD_BYTES + pageBytes;
}

function readAt(file: Deno.FsFile, at: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  file.seekSync(at, Deno.SeekMode.Start);
  return bytes.subarray(0, file.readSync(bytes) ?? 0);
}
