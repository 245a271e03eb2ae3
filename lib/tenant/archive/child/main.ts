// A throw-away process: makes a database file of a base and frames of its write-ahead log, up to a moment. It may touch one
// folder.
import { DatabaseSync } from "node:sqlite";
import { newestChangeTimeQuery } from "../../../sql/change_rows.ts";
import type { SegmentHead } from "../archive_names.ts";
import type { BuildJob } from "../build_job.ts";
import { FRAME_HEAD_BYTES, walkFrames } from "../wal_frames.ts";

const [folder, text] = Deno.args;
if (folder === undefined || text === undefined) Deno.exit(2);
const job = parseJob(text);
const path = `${folder}/built.db`;
try {
  for (let at = 0; at < job.whole; at++) applyWhole(readSegment(at));
  let at = job.whole;
  for (const count of job.parts) {
    if (!applyUntil(at, count)) break;
    at += count;
  }
  check();
} catch {
  // What was wrong is nobody's to see: the file is a tenant's.
  Deno.exit(1);
}

interface Segment {
  readonly pageBytes: number;
  readonly frames: Uint8Array<ArrayBuffer>;
  readonly commits: readonly { readonly frames: number; readonly pages: number }[];
}

function readSegment(at: number, more = 0): Segment {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let first: SegmentHead | null = null;
  for (let part = at; part <= at + more; part++) {
    const bytes = Deno.readFileSync(`${folder}/wal-${part}`);
    const end = bytes.indexOf(10);
    first ??= parseHead(new TextDecoder().decode(bytes.subarray(0, end)));
    parts.push(bytes.subarray(end + 1));
  }
  if (first === null) throw new Error("there is no segment");
  const frames = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let filled = 0;
  for (const part of parts) {
    frames.set(part, filled);
    filled += part.length;
  }
  const walk = walkFrames(frames, first, first.sum);
  if (walk.frames * (FRAME_HEAD_BYTES + first.pageBytes) !== frames.length) {
    throw new Error("a frame is not whole");
  }
  return { pageBytes: first.pageBytes, frames, commits: walk.commits };
}

function applyWhole({ frames, pageBytes, commits }: Segment): void {
  using file = Deno.openSync(path, { read: true, write: true });
  writePages(file, frames, pageBytes);
  const last = commits.at(-1);
  // The rest of a long transaction is in the next one.
  if (last) file.truncateSync(Math.max(last.pages * pageBytes, tailEnd(frames, pageBytes, last.frames)));
}

/** Where the pages behind the last commit end. */
function tailEnd(frames: Uint8Array<ArrayBuffer>, pageBytes: number, committed: number): number {
  const view = new DataView(frames.buffer, frames.byteOffset, frames.byteLength);
  let end = 0;
  const frameBytes = FRAME_HEAD_BYTES + pageBytes;
  for (let at = committed * frameBytes; at < frames.length; at += frameBytes) {
    end = Math.max(end, view.getUint32(at) * pageBytes);
  }
  return end;
}

/** Applies the commits of segments up to the first one that has a change which began later; false: there is one. */
function applyUntil(at: number, count: number): boolean {
  const { frames, pageBytes, commits } = readSegment(at, count - 1);
  const frameBytes = FRAME_HEAD_BYTES + pageBytes;
  let from = 0;
  for (const { frames: end, pages } of commits) {
    const own = frames.subarray(from * frameBytes, end * frameBytes);
    const undo = applyCommit(own, pageBytes, pages);
    if (newestChangeMs() > job.atMs) {
      undo();
      return false;
    }
    from = end;
  }
  return true;
}

/** Returns what undoes it. */
function applyCommit(frames: Uint8Array<ArrayBuffer>, pageBytes: number, pages: number): () => void {
  using file = Deno.openSync(path, { read: true, write: true });
  const { size } = file.statSync();
  const former = frames.slice();
  const view = new DataView(former.buffer);
  const frameBytes = FRAME_HEAD_BYTES + pageBytes;
  for (let at = 0; at < former.length; at += frameBytes) {
    file.seekSync((view.getUint32(at) - 1) * pageBytes, Deno.SeekMode.Start);
    readWhole(file, former.subarray(at + FRAME_HEAD_BYTES, at + frameBytes));
  }
  writePages(file, frames, pageBytes);
  file.truncateSync(pages * pageBytes);
  return () => {
    using again = Deno.openSync(path, { read: true, write: true });
    writePages(again, former, pageBytes);
    again.truncateSync(size);
  };
}

function readWhole(file: Deno.FsFile, into: Uint8Array): void {
  for (let filled = 0; filled < into.length;) {
    const read = file.readSync(into.subarray(filled));
    // A page that is not there yet.
    if (read === null) return;
    filled += read;
  }
}

function writePages(file: Deno.FsFile, frames: Uint8Array<ArrayBuffer>, pageBytes: number): void {
  const view = new DataView(frames.buffer, frames.byteOffset, frames.byteLength);
  for (let at = 0; at < frames.length; at += FRAME_HEAD_BYTES + pageBytes) {
    file.seekSync((view.getUint32(at) - 1) * pageBytes, Deno.SeekMode.Start);
    const page = frames.subarray(at + FRAME_HEAD_BYTES, at + FRAME_HEAD_BYTES + pageBytes);
    for (let written = 0; written < page.length;) written += file.writeSync(page.subarray(written));
  }
}

/** When the newest change began: its row is written in its own transaction. */
function newestChangeMs(): number {
  using database = new DatabaseSync(path);
  // A file of an older version has no such table.
  if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = '_service_meta_change'").get()) return 0;
  return Number(database.prepare(newestChangeTimeQuery).get()?.["at"] ?? 0);
}

function check(): void {
  using database = new DatabaseSync(path);
  const line = database.prepare("PRAGMA quick_check(1)").get();
  if (String(line?.["quick_check"]).startsWith("*** in database")) throw new Error("the file is damaged");
  database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
}

/** Guarantee: the service wrote the job. */
function parseJob(json: string): BuildJob {
  return JSON.parse(json);
}

/** Guarantee: the digest of the segment was compared, so the service wrote its head. */
function parseHead(json: string): SegmentHead {
  return JSON.parse(json);
}
