// Finds what a moment of a database is made of, and brings it here. An object that is lost or altered is found before
// anything is made of what is left.
import { AppError } from "../../core/errors.ts";
import { isoTime } from "../../core/clock.ts";
import type { ArchiveName, EpochBegin, EpochEnd } from "./archive_names.ts";
import { digestOf } from "./digest.ts";
import { addToEpoch, type Epochs, type Named, objectsOf } from "./listed_objects.ts";
import type { ReadObjects } from "../object_store.ts";
import { unpack } from "./packed.ts";

/** What a moment is made of. */
export interface Moment {
  readonly pieces: readonly Named[];
  /** Everything in them was answered by then. */
  readonly whole: readonly Named[];
  /**
   * What was read together next, in one group and then another, of which some may have been answered by then: the first
   * ends before the time that its name tells.
   */
  readonly parts: readonly (readonly Named[])[];
}

/** The most bytes of an object, unpacked. */
const MOST_BYTES = 80 * 1024 * 1024;

/**
 * Finds the moment `atMs`. `end`: where the archive ends, if that is known here. Errors: `archive_too_early`, `archive_gap`, `archive_damaged`; rejects where the store does not
 * answer.
 */
export async function findMoment(
  store: ReadObjects,
  databaseId: string,
  { atMs, end }: { readonly atMs: number; readonly end: EpochEnd | null },
): Promise<Moment> {
  const epochs: Epochs = new Map();
  for await (const object of objectsOf(store, databaseId)) addToEpoch(epochs, object);
  const begun: { begin: EpochBegin; epoch: string; objects: Named[] }[] = [];
  for (const [epoch, objects] of [...epochs].sort(([a], [b]) => a < b ? -1 : 1)) {
    const named = objects.find(({ name }) => name.kind === "begin");
    // Without one its base never became whole, or it is being removed.
    const begin = named ? await findBegin(store, named) : null;
    if (begin) begun.push({ begin, epoch, objects });
  }
  const at = begun.findLastIndex(({ begin }) => begin.atMs <= atMs);
  const found = begun[at];
  if (end !== null && begun.at(-1)?.epoch !== end.epoch) throw damaged();
  if (!found) throw tooEarly(begun[0]?.begin.atMs ?? null);
  const next = begun[at + 1]?.begin;
  const segments = inOrder(found.objects, "wal");
  const known = next ? next.before : end;
  if (known && (known.epoch !== found.epoch || known.segments !== segments.length)) throw damaged();
  const pieces = inOrder(found.objects, "base");
  if (pieces.length !== found.begin.pieces) throw damaged();
  const last = segments.findLastIndex(({ name }) => name.readMs <= atMs);
  const after = Map.groupBy(segments.slice(last + 1), ({ name }) => name.readMs);
  const parts = [...after.values()].slice(0, 2);
  if (
    next && next.gapFromMs !== null && parts.length === 0 && atMs > Math.max(next.gapFromMs, found.begin.atMs)
  ) {
    throw new AppError("archive_gap", {
      message: `Choose a moment until ${isoTime(next.gapFromMs)} or from ${isoTime(next.atMs)} on; ` +
        "what was written between is not in the archive",
    });
  }
  return { pieces, whole: segments.slice(0, last + 1), parts };
}

/**
 * The earliest moment that is archived, unix milliseconds; null: there is none. What stands behind it is not listed. Errors:
 * `archive_damaged`; rejects where the store does not answer.
 */
export async function findFirstMs(store: ReadObjects, databaseId: string): Promise<number | null> {
  for await (const object of objectsOf(store, databaseId)) {
    const begin = object.name.kind === "begin" ? await findBegin(store, object) : null;
    if (begin) return begin.atMs;
  }
  return null;
}

/** Reads what an epoch begins with. Errors: `archive_damaged`. */
export async function readBegin(store: ReadObjects, named: Named): Promise<EpochBegin> {
  return await findBegin(store, named) ?? lost();
}

/** The same; null where it was removed since it was listed, which is the first thing that is removed of an epoch. */
async function findBegin(store: ReadObjects, named: Named): Promise<EpochBegin | null> {
  const bytes = await readWhole(store, named);
  return bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes));
}

/** Brings an object, unpacked. Errors: `archive_damaged` where it is lost, is another one, or was packed in another way. */
export async function readObject(store: ReadObjects, named: Named): Promise<Uint8Array<ArrayBuffer>> {
  const packed = await readWhole(store, named) ?? lost();
  try {
    return unpack(packed, MOST_BYTES);
  } catch {
    throw damaged();
  }
}

/** Null: it is not there. */
async function readWhole(store: ReadObjects, { key, name }: Named): Promise<Uint8Array<ArrayBuffer> | null> {
  const found = await store.get(key);
  if (found !== null && digestOf(found.bytes) !== name.sha256) throw damaged();
  return found?.bytes ?? null;
}

/** The objects of a kind, whose numbers have to be 0, 1, 2 and so on. */
function inOrder(objects: readonly Named[], kind: ArchiveName["kind"]): Named[] {
  const found = objects.filter(({ name }) => name.kind === kind).sort((a, b) =>
    a.name.number - b.name.number
  );
  if (found.some(({ name }, at) => name.number !== at)) throw damaged();
  return found;
}

function lost(): never {
  throw damaged();
}

function damaged(): AppError {
  return new AppError("archive_damaged");
}

function tooEarly(firstMs: number | null): AppError {
  return new AppError("archive_too_early", {
    message: firstMs === null
      ? "Choose a snapshot; nothing of this database is archived yet"
      : `Choose a moment from ${isoTime(firstMs)} on, where the archive of this database begins`,
  });
}
