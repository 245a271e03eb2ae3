// A throw-away process: makes a database file of a base and frames of its write-ahead log, up to a moment. It may touch one
// folder.
import { DatabaseSync } from "node:sqlite";
import {
  newestChangeQuery,
  newestChangeTimeQuery,
  restartChanges,
} from "../../../sql/service/change_rows.ts";
import { isReservedName, ownTablesQuery } from "../../../sql/words/service_tables.ts";
import type { SegmentHead } from "../archive_names.ts";
import { buildExits, type BuildJob, isFullDisk } from "../build_job.ts";
import { FRAME_HEAD_BYTES, walkFrames } from "../../wal_frames.ts";
import { FormerPages } from "./former_pages.ts";
import { writeWhole } from "./whole_io.ts";

const [folder, text] = Deno.args;
if (folder === undefined || text === undefined) Deno.exit(1);
const job = parseJob(text);
const path = `${folder}/built.db`;
try {
  for (let at = 0; at < job.whole; at++) applyWhole(readSegment(at));
  let at = job.whole;
  for (const count of job.parts) {
    if (!applyUntil(at, count)) break;
    at += count;
  }
  finish();
} catch (error) {
  // What was wrong is nobody's to see: the file is a tenant's.
  Deno.exit(isFullDisk(error) ? buildExits.noRoom : buildExits.damaged);
}

interface Segment {
  readonly pageBytes: number;
  readonly frames: Uint8Array<ArrayBuffer>;
  readonly commits: readonly { readonly frames: number; readonly pages: number }[];
}

function readSegment(at: number): Segment {
  const bytes = Deno.readFileSync(`${folder}/wal-${at}`);
  const end = bytes.indexOf(10);
  const head = parseHead(new TextDecoder().decode(bytes.subarray(0, end)));
  const frames = bytes.subarray(end + 1);
  const walk = walkFrames(frames, head, head.sum);
  if (walk.frames * (FRAME_HEAD_BYTES + head.pageBytes) !== frames.length) {
    throw new Error("a frame is not whole");
  }
  return { pageBytes: head.pageBytes, frames, commits: walk.commits };
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
function applyUntil(first: number, count: number): boolean {
  using file = Deno.openSync(path, { read: true, write: true });
  using former = new FormerPages(file, `${folder}/former`);
  for (let at = first; at < first + count; at++) {
    const { frames, pageBytes, commits } = readSegment(at);
    const frameBytes = FRAME_HEAD_BYTES + pageBytes;
    let from = 0;
    for (const { frames: end, pages } of commits) {
      former.keep(frames.subarray(from * frameBytes, end * frameBytes), pageBytes);
      writePages(file, frames.subarray(from * frameBytes, end * frameBytes), pageBytes);
      file.truncateSync(pages * pageBytes);
      if (newestChangeMs() > job.atMs) {
        former.putBack();
        return false;
      }
      former.forget();
      from = end;
    }
    // The rest of a long transaction is in the next one.
    former.keep(frames.subarray(from * frameBytes), pageBytes);
    writePages(file, frames.subarray(from * frameBytes), pageBytes);
  }
  return true;
}

function writePages(file: Deno.FsFile, frames: Uint8Array<ArrayBuffer>, pageBytes: number): void {
  const view = new DataView(frames.buffer, frames.byteOffset, frames.byteLength);
  for (let at = 0; at < frames.length; at += FRAME_HEAD_BYTES + pageBytes) {
    file.seekSync((view.getUint32(at) - 1) * pageBytes, Deno.SeekMode.Start);
    writeWhole(file, frames.subarray(at + FRAME_HEAD_BYTES, at + FRAME_HEAD_BYTES + pageBytes));
  }
}

/** When the newest change began: its row is written in its own transaction. */
function newestChangeMs(): number {
  using database = new DatabaseSync(path);
  if (!hasChanges(database)) return 0;
  return Number(database.prepare(newestChangeTimeQuery).get()?.["at"] ?? 0);
}

/** A file of an older version has no such table. */
function hasChanges(database: DatabaseSync): boolean {
  const found = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = '_service_meta_change'").get();
  return found !== undefined;
}

/**
 * The lost file may have come further than the archive, so numbers of changes will be given a second time: an epoch of their own
 * tells them from those that followers know.
 */
function restart(database: DatabaseSync, nowMs: number): void {
  const newest = database.prepare(newestChangeQuery).get();
  const former = newest ? { seq: Number(newest["seq"]), epoch: Number(newest["epoch"]) } : null;
  const tables = database.prepare(ownTablesQuery).all().map(({ name }) => String(name))
    .filter((name) => !isReservedName(name)).sort();
  database.exec("BEGIN");
  for (const [sql, values] of restartChanges(former, { tables, nowMs })) database.prepare(sql).run(...values);
  database.exec("COMMIT");
}

function finish(): void {
  using database = new DatabaseSync(path);
  const line = database.prepare("PRAGMA quick_check(1)").get();
  if (String(line?.["quick_check"]).startsWith("*** in database")) throw new Error("the file is damaged");
  if (job.restartMs !== null && hasChanges(database)) restart(database, job.restartMs);
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
