// Records row changes one by one, as `row_notes.ts` writes them, and keeps only their digests.
import { isoTime } from "../../core/clock.ts";
import { sha256 } from "../../core/sha256.ts";
import {
  CHANGE_BYTES,
  KEY_BYTES,
  MAX_DIGESTED_ROWS,
  type RowNote,
  type RowsFootprint,
  TIME_MARK,
} from "./footprint.ts";

/** The span of present times that a run may write, by the engine's clock, in unix seconds. */
export interface RunTime {
  readonly fromSec: number;
  readonly toSec: number;
}

type State = Pick<RowsFootprint, "changes"> & {
  readonly sum: bigint;
  readonly keys: bigint;
  readonly each: number;
  readonly begun: ReadonlyMap<string, readonly boolean[]>;
};

/** The text for a rowid that the engine has yet to assign; an existing row may have this rowid as well. */
const UNMADE_KEY = "-1,";
const TWO_256 = 1n << 256n;

/** Collects the notes of one run. */
export class RowsRecorder {
  #changes = 0;
  /** Sums of digests, which do not depend on the order. */
  #sum = 0n;
  #keys = 0n;
  #each: Uint8Array[] = [];
  /** Rows begun and not inserted yet, by table; true where the engine makes the key. */
  #begun = new Map<string, boolean[]>();

  constructor(private readonly salt: string, private readonly options: { readonly each: boolean }) {}

  add(note: RowNote, time: RunTime): void {
    const { table, kind } = note;
    if (kind === "begins") {
      const begun = this.#begun.get(table) ?? [];
      this.#begun.set(table, begun);
      begun.push(note.keyAfter === "1");
      return;
    }
    // Rows that a conflict skipped stay on the stack; the row begun last is inserted first.
    const begun = kind === "insert" && this.#begun.get(table)?.pop() === true;
    const made = begun && note.keyAfter !== UNMADE_KEY;
    const keyAfter = made ? "made" : note.keyAfter;
    this.#changes++;
    const key = this.#digest(["key", table, note.keyBefore ?? keyAfter]);
    this.#keys = (this.#keys + numberOf(key)) % TWO_256;
    if (this.#changes > MAX_DIGESTED_ROWS) return;
    const after = note.after === null ? null : atRunTime(note.after, time);
    const change = this.#digest([kind, table, note.keyBefore, note.before, keyAfter, after]);
    this.#sum = (this.#sum + numberOf(change)) % TWO_256;
    if (!this.options.each) return;
    // A row whose key the engine makes is identified by its values.
    const known = made || note.keyAfter === "" ? change : key;
    this.#each.push(Uint8Array.of(...known.subarray(0, KEY_BYTES), ...change.subarray(0, CHANGE_BYTES)));
  }

  /** The state to restore when later changes are undone. */
  mark(): State {
    const begun = new Map(Array.from(this.#begun, ([table, rows]) => [table, [...rows]]));
    return { changes: this.#changes, sum: this.#sum, keys: this.#keys, each: this.#each.length, begun };
  }

  backTo({ changes, sum, keys, each, begun }: State): void {
    this.#changes = changes;
    this.#sum = sum;
    this.#keys = keys;
    this.#each.length = each;
    this.#begun = new Map(Array.from(begun, ([table, rows]) => [table, [...rows]]));
  }

  get footprint(): RowsFootprint {
    const many = this.#changes > MAX_DIGESTED_ROWS;
    return {
      changes: this.#changes,
      digest: many ? null : this.#sum.toString(16),
      keys: this.#keys.toString(16),
      each: many || !this.options.each ? null : joined(this.#each).toBase64(),
    };
  }

  /** Writes each part with its length, so that one part cannot be read as two. */
  #digest(parts: readonly (string | null)[]): Uint8Array {
    const hash = sha256().update(this.salt);
    for (const part of parts) hash.update(part === null ? "-" : `${part.length} `).update(part ?? "");
    return hash.digest();
  }
}

function numberOf(digest: Uint8Array): bigint {
  return BigInt(`0x${digest.toHex()}`);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.length * (KEY_BYTES + CHANGE_BYTES));
  for (const [at, part] of parts.entries()) bytes.set(part, at * (KEY_BYTES + CHANGE_BYTES));
  return bytes;
}

/** Replaces a column's value by a constant where it is the run's present time, so that two runs compare as equal. */
function atRunTime(values: string, time: RunTime): string {
  if (!values.includes(TIME_MARK)) return values;
  return values.split(",").map((one) => {
    if (!one.startsWith(TIME_MARK)) return one;
    const value = one.slice(TIME_MARK.length);
    return isPresent(value, time) ? `${TIME_MARK}now` : one;
  }).join(",");
}

const MS = 1000;
const DAY_SEC = 86_400;
/** The day number, as `julianday()` counts, of 1970-01-01T00:00:00Z. */
const UNIX_DAY = 2_440_587.5;

function isPresent(value: string, time: RunTime): boolean {
  // Some builds write a REAL of many digits with an exponent.
  if (/^\d+(\.\d+)?(e\+\d+)?$/.test(value)) {
    const number = Number(value);
    return [number, number / MS, (number - UNIX_DAY) * DAY_SEC].some((sec) => isWithin(sec, time));
  }
  if (!/^t[0-9A-F]*$/.test(value)) return false;
  const text = new TextDecoder().decode(Uint8Array.fromHex(value.slice(1)));
  const parts = /^(\d{4}-\d\d-\d\d)?[ T]?(?:(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)Z?)?$/.exec(text);
  const [, day, clock] = parts ?? [];
  if (day === undefined && clock === undefined) return false;
  const widthSec = clock === undefined ? DAY_SEC : clock.length === 5 ? 60 : 0;
  // A clock without a day is one of the days on which it ran.
  const days = day === undefined ? [time.fromSec, time.toSec].map(dayOf) : [day];
  return days.some((one) => isWithin(Date.parse(`${one}T${clock ?? "00:00:00"}Z`) / MS, time, widthSec));
}

function dayOf(unixSec: number): string {
  return isoTime(unixSec * MS).slice(0, 10);
}

function isWithin(sec: number, { fromSec, toSec }: RunTime, widthSec = 0): boolean {
  return sec + widthSec >= fromSec - 1 && sec <= toSec + 1;
}
