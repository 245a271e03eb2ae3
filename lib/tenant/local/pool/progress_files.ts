// The files in which engine children note their progress and memory: makes and reads them. They stay and are reused, so
// that a child can start on a full disk.
import {
  PROGRESS_FILE_BYTES,
  PROGRESS_HEAD_BYTES,
  PROGRESS_RECORD_BYTES,
  PROGRESS_SET_AT,
  SETS_RUN,
} from "../child/protocol.ts";

/** The progress file of one child. */
export interface ProgressFile {
  readonly path: string;
  readonly number: number;
}

/** Empties a file that is not in `used`. Throws what the system throws, for example where there is no room for another. */
export function freeProgressFile(runDirectory: string, used: readonly number[]): ProgressFile {
  let number = 1;
  while (used.includes(number)) number++;
  return { path: emptied(runDirectory, number), number };
}

/** Makes the files for up to `count` children, as many as there is room for, and removes others. */
export async function prepareProgressFiles(runDirectory: string, count: number): Promise<void> {
  const names = new Set(Array.from({ length: count }, (_, at) => `engine-${at + 1}`));
  for await (const { name } of Deno.readDir(runDirectory)) {
    if (!names.has(name)) await Deno.remove(`${runDirectory}/${name}`, { recursive: true });
  }
  for (let number = 1; number <= count; number++) {
    try {
      emptied(runDirectory, number);
    } catch (error) {
      // Only the first file is required; the store works with fewer children.
      if (number === 1) throw error;
      return;
    }
  }
}

function emptied(runDirectory: string, number: number): string {
  const path = `${runDirectory}/engine-${number}`;
  const file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
  try {
    // Overwrites the older child's records. Truncating the file would give its room on the disk away.
    file.writeSync(new Uint8Array(PROGRESS_FILE_BYTES));
  } finally {
    file.close();
  }
  return path;
}

/**
 * The statement that a child started last: the position of its call in the frame, and its position in the call, or that
 * of its parameter set, which may be some milliseconds old.
 */
export interface Progress {
  readonly call: number;
  readonly statement: number;
}

/** The content of a progress file. */
export interface ChildReport {
  /** The child's resident bytes; NaN before the first report. */
  readonly residentBytes: number;
  /** Processor time of all the child's threads; NaN until one of its frames has lasted for 20 ms. */
  readonly cpuMs: number;
  /** Bytes that the child has written to files since its start; NaN as above. Other systems than Linux count something else. */
  readonly writtenBytes: number;
  /** The report's number, which distinguishes a new report from an old one; 0 before the first. */
  readonly count: number;
  /** The last statement that the child started, if it belongs to the frame. */
  readonly progress: Progress | null;
}

/** Reads a child's progress file; null where it cannot be read. `frame`: the frame whose progress is asked for. */
export function readProgressFile(path: string, frame: number): ChildReport | null {
  let bytes: Uint8Array;
  try {
    bytes = Deno.readFileSync(path);
  } catch {
    return null;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reported = bytes.length >= PROGRESS_HEAD_BYTES;
  const count = reported ? view.getUint32(24) : 0;
  return {
    residentBytes: count === 0 ? NaN : view.getFloat64(0),
    cpuMs: count === 0 ? NaN : view.getFloat64(8),
    writtenBytes: count === 0 ? NaN : view.getFloat64(16),
    count,
    progress: lastRecord(bytes, frame),
  };
}

/** Finds the last record of a frame. Behind the records of the present frame, a progress file has records of older ones. */
export function lastRecord(bytes: Uint8Array, frame: number): Progress | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let last: Progress | null = null;
  for (
    let at = PROGRESS_HEAD_BYTES;
    at + PROGRESS_RECORD_BYTES <= bytes.length;
    at += PROGRESS_RECORD_BYTES
  ) {
    if (view.getUint32(at) !== frame) break;
    const statement = view.getUint32(at + 8);
    last = {
      call: view.getUint32(at + 4),
      statement: statement === SETS_RUN ? view.getUint32(PROGRESS_SET_AT) : statement,
    };
  }
  return last;
}
