// The names of the archive's objects, below the prefix:
//   owner.json                                      who writes here
//   db/<database>/<epoch>/base-<number>-<sha256>    a piece of the database's file
//   db/<database>/<epoch>/begin-<sha256>            what the epoch begins with, once its base is whole
//   db/<database>/<epoch>/wal-<number>-<read>-<sha256>    frames of the write-ahead log
// An epoch is a base and what follows it without a gap.

/** One object of an epoch. */
export interface ArchiveName {
  readonly epoch: string;
  readonly kind: "base" | "begin" | "wal";
  /** Position among its kind. */
  readonly number: number;
  /** Of frames: everything in them was committed before then, but not all that was. Unix milliseconds. */
  readonly readMs: number;
  readonly sha256: string;
}

/** The prefix of everything of a database. */
export function databasePrefix(databaseId: string): string {
  return `db/${databaseId}/`;
}

/** The name of the epoch with that number; its end tells it from one of another process. */
export function epochName(number: number): string {
  return `${String(number).padStart(8, "0")}-${crypto.randomUUID().slice(0, 8)}`;
}

/** The number of an epoch. */
export function epochNumber(epoch: string): number {
  return Number(epoch.slice(0, 8));
}

/** The last two parts of an object's key. */
export function objectName({ epoch, kind, number, readMs, sha256 }: ArchiveName): string {
  if (kind === "begin") return `${epoch}/begin-${sha256}`;
  if (kind === "base") return `${epoch}/base-${digitsOf(number)}-${sha256}`;
  return `${segmentStart(epoch, number)}-${String(readMs).padStart(15, "0")}-${sha256}`;
}

/** What the name of a segment begins with. In the order of names, later segments and later epochs stand behind it. */
export function segmentStart(epoch: string, number: number): string {
  return `${epoch}/wal-${digitsOf(number)}`;
}

function digitsOf(number: number): string {
  return String(number).padStart(8, "0");
}

const NAME = /^(\d{8}-[0-9a-f]{8})\/(?:begin|(base)-(\d{8})|(wal)-(\d{8})-(\d{15}))-([0-9a-f]{64})$/;

/** Reads such a name; null: it is none. */
export function readObjectName(text: string): ArchiveName | null {
  const [, epoch, base, part, wal, segment, read, sha256] = NAME.exec(text) ?? [];
  if (epoch === undefined || sha256 === undefined) return null;
  const kind = base ? "base" : wal ? "wal" : "begin";
  return { epoch, kind, number: Number(part ?? segment ?? 0), readMs: Number(read ?? 0), sha256 };
}

/** What an epoch begins with. */
export interface EpochBegin {
  readonly version: 1;
  readonly databaseId: string;
  /** The earliest moment that can be restored from it; unix milliseconds. */
  readonly atMs: number;
  /** Pieces of the base. */
  readonly pieces: number;
  /** When the last thing before it was archived, where something after that may be missing; null: nothing is. */
  readonly gapFromMs: number | null;
  /** The end of the epoch before; null: there is none, or a gap lies between. */
  readonly before: EpochEnd | null;
}

/** How many segments an epoch has. */
export interface EpochEnd {
  readonly epoch: string;
  readonly segments: number;
}

/** What stands before the frames of a segment, as JSON in a line. */
export interface SegmentHead {
  readonly pageBytes: number;
  readonly salts: string;
  readonly bigEndian: boolean;
  /** The checksum before the first frame. */
  readonly sum: readonly [number, number];
  /** Frames of this log that stand in segments before. */
  readonly firstFrame: number;
}
