// Whether a log goes on where it was read, and what an epoch follows.
import { DAY_MS } from "../../core/clock.ts";
import { databasePrefix, type EpochBegin, epochNumber, segmentStart } from "./archive_names.ts";
import type { ArchiveState } from "./archive_state.ts";
import type { ObjectStore } from "../object_store.ts";
import { readPart } from "./file_parts.ts";
import { objectsOf } from "./listed_objects.ts";
import { FRAME_HEAD_BYTES, WAL_HEAD_BYTES, type WalHead, type WalSum } from "../wal_frames.ts";

/** A base follows after a day, or when the log since the last one is this many times the file, and at least so long. */
const BASE_MS = DAY_MS;
const BASE_TIMES = 4;
const BASE_LEAST_BYTES = 256 * 1024 * 1024;
/** What is not in the file yet is read again for a base: a long one of that waits until the log has been folded in. */
const AGAIN_BYTES = 4 * 1024 * 1024;

/** Whether a new base is due. */
export function needsBase(state: ArchiveState, nowMs: number): boolean {
  const { baseAtMs, baseBytes, walBytes, frames, inFile = 0, pageBytes } = state;
  if (walBytes === 0) return false;
  if (nowMs - baseAtMs > BASE_MS) return true;
  const most = Math.max(BASE_LEAST_BYTES, BASE_TIMES * baseBytes);
  const isShort = (frames - inFile) * (FRAME_HEAD_BYTES + pageBytes) < AGAIN_BYTES;
  return walBytes > (isShort ? most : 2 * most);
}

/** What an epoch comes after. `atMs` null: it begins with what is there now. */
export interface After extends Pick<EpochBegin, "gapFromMs" | "before"> {
  readonly number: number;
  readonly atMs: number | null;
}

/** After an epoch, without a gap. */
export function follows({ epoch, segments, untilMs }: ArchiveState): After {
  const before = { epoch, segments };
  return { number: epochNumber(epoch) + 1, gapFromMs: null, before, atMs: untilMs };
}

/** After an epoch whose end is not known to be the last thing before. */
export function gapAfter({ epoch, untilMs }: ArchiveState): After {
  return { number: epochNumber(epoch) + 1, gapFromMs: untilMs, before: null, atMs: null };
}

/** After what the store has of a database of which nothing is known here. Rejects where the store does not answer. */
export async function afterStored(store: ObjectStore, databaseId: string): Promise<After> {
  let number = 0;
  let lastMs = 0;
  for await (const { name } of objectsOf(store, databaseId)) {
    number = Math.max(number, epochNumber(name.epoch) + 1);
    lastMs = Math.max(lastMs, name.readMs);
  }
  return { number, gapFromMs: lastMs === 0 ? null : lastMs, before: null, atMs: null };
}

/**
 * Whether the store has what was archived later than the state: the disk, or a copy of it, is of an earlier time. Objects of two
 * courses in one epoch would make both worthless. Rejects where the store does not answer.
 */
export async function isBehindStore(
  store: ObjectStore,
  databaseId: string,
  { epoch, segments }: ArchiveState,
): Promise<boolean> {
  const next = databasePrefix(databaseId) + segmentStart(epoch, segments);
  const { done } = await objectsOf(store, databaseId, next).next();
  return done !== true;
}

/** What an epoch begins with. `file`: the state of the database's file. */
export function epochBegin(
  { atMs, gapFromMs, before }: After,
  { databaseId, pieces, file, untilMs }: {
    readonly databaseId: string;
    readonly pieces: number;
    readonly file: string;
    readonly untilMs: number;
  },
): EpochBegin {
  // Everything since the file's last change is in its log.
  const fromMs = atMs ?? Math.min(untilMs, Number(file.split(":")[3]) + 1);
  return { version: 1, databaseId, atMs: fromMs, pieces, gapFromMs, before };
}

/**
 * Whether the log is the one that was read, or the first one after it, and nobody else has folded one in. A copy of the file
 * goes on with nothing: who reads the original may go on with it too.
 */
export function goesOn(
  { phase, file, salts, frames }: ArchiveState,
  now: string,
  head: WalHead | null,
): boolean {
  if (phase === "replaced" || inodeOf(now) !== inodeOf(file)) return false;
  // This process, or the one before, was ended while it folded the log in, of which everything had been read.
  if (phase === "folding") return head === null || head.salts === salts;
  if (now !== file) return false;
  return head === null
    ? salts === "" || frames === 0
    : salts === "" || head.salts === salts || isNext(salts, head.salts);
}

/** What of a file's state stays while the file is written. */
function inodeOf(file: string): string {
  return file.split(":", 2).join(":");
}

/** The engine begins a log again, one salt higher, when all of it is in the file; who read on held up the end of its folding. */
function isNext(salts: string, now: string): boolean {
  return parseInt(now.slice(0, 8), 16) === (parseInt(salts.slice(0, 8), 16) + 1) >>> 0;
}

/**
 * Whether what was read still stands in the log: a machine that loses its power may lose frames that were read before they
 * were on the disk, and others take their place.
 */
export async function stillHolds(
  log: string,
  head: WalHead | null,
  { salts, frames, sum }: ArchiveState,
): Promise<boolean> {
  if (head === null || head.salts !== salts || frames === 0) return true;
  const found = await sumAfter(log, head, frames);
  return found !== null && found[0] === sum[0] && found[1] === sum[1];
}

/**
 * Where a log goes on behind what is in the file: an epoch whose base is the file begins there, because frames that are in it
 * would take pages of later ones back.
 */
export async function behindFile(
  log: string,
  head: WalHead | null,
  { state, file }: { readonly state: ArchiveState | null; readonly file: string },
): Promise<Pick<ArchiveState, "salts" | "frames" | "inFile" | "sum">> {
  if (head === null) return { salts: "", frames: 0, inFile: 0, sum: [0, 0] };
  const { salts } = head;
  const inFile = state?.salts === salts && state.file === file ? state.inFile ?? 0 : 0;
  const sum = await sumAfter(log, head, inFile);
  // The machine has lost these frames.
  if (sum === null) return { salts, frames: 0, inFile: 0, sum: head.sum };
  return { salts, frames: inFile, inFile, sum };
}

/** The checksum after so many frames; null: the log has less. */
async function sumAfter(log: string, head: WalHead, frames: number): Promise<WalSum | null> {
  if (frames === 0) return head.sum;
  const at = WAL_HEAD_BYTES + (frames - 1) * (FRAME_HEAD_BYTES + head.pageBytes);
  const bytes = await readPart(log, at, FRAME_HEAD_BYTES);
  if (bytes.length < FRAME_HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return [view.getUint32(16), view.getUint32(20)];
}
