// A row that differs between the two sides, and how rows of the two sides are paired: by their key, or by their content where
// the table has no key.
import { foldName } from "../../sql/words/names.ts";
import { OddText, type StoredValue } from "../../sql/words/stored_text.ts";
import type { Row } from "./work.ts";
import type { Fold, TablePair } from "./table_pair.ts";

/** How a row differs. */
export type RowChange =
  | { readonly kind: "added"; readonly before: null; readonly after: Row }
  | { readonly kind: "removed"; readonly before: Row; readonly after: null }
  | { readonly kind: "changed"; readonly before: Row; readonly after: Row };

/** Makes the change of a row that only one side has. */
export function onlyIn(side: "before" | "after", row: Row): RowChange {
  return side === "after"
    ? { kind: "added", before: null, after: row }
    : { kind: "removed", before: row, after: null };
}

/** Whether two values are the same. */
export function sameValue(a: StoredValue | undefined, b: StoredValue | undefined): boolean {
  if (a === b) return true;
  if (a instanceof OddText && b instanceof OddText) return sameValue(a.bytes, b.bytes);
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array) || a.length !== b.length) return false;
  // A loop, because a callback for each byte would take most of a comparison's time.
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Whether two rows have the same values. */
export function sameRow(a: Row, b: Row): boolean {
  for (let at = 0; at < a.length; at++) if (!sameValue(a[at], b[at])) return false;
  return true;
}

/** The most unpaired rows held; beyond that a changed row counts as removed and added. */
const MAX_HELD = 200_000;

/** Holds rows of both sides until their counterparts arrive. */
export class RowMatcher {
  readonly #held = { before: new Map<string, Row[]>(), after: new Map<string, Row[]>() };
  #count = 0;

  constructor(private readonly pair: TablePair, private readonly found: RowChange[]) {}

  add(row: Row, side: "before" | "after"): void {
    const key = this.#keyOf(row);
    const others = this.#held[side === "before" ? "after" : "before"].get(key);
    const other = others?.pop();
    if (other !== undefined) {
      this.#count--;
      const [before, after] = side === "before" ? [row, other] : [other, row];
      if (!sameRow(before, after)) this.found.push({ kind: "changed", before, after });
      return;
    }
    if (this.#count >= MAX_HELD) {
      this.found.push(onlyIn(side, row));
      return;
    }
    this.#count++;
    const rows = this.#held[side].get(key);
    if (rows) rows.push(row);
    else this.#held[side].set(key, [row]);
  }

  sameKey(a: Row, b: Row): boolean {
    const { key, folds } = this.pair;
    return key.length > 0 &&
      key.every((at, index) => sameValue(folded(a[at], folds[index]), folded(b[at], folds[index])));
  }

  rest(): void {
    for (const side of ["before", "after"] as const) {
      for (const rows of this.#held[side].values()) {
        for (const row of rows) this.found.push(onlyIn(side, row));
      }
      this.#held[side].clear();
    }
    this.#count = 0;
  }

  #keyOf(row: Row): string {
    const { key, folds } = this.pair;
    const told = key.length === 0 ? row : key.map((at, index) => folded(row[at], folds[index]) ?? null);
    return told.map(textOf).join("\u0000");
  }
}

/** What of a value tells keys apart. */
function folded(value: StoredValue | undefined, fold: Fold | undefined): StoredValue | undefined {
  if (typeof value !== "string" || !fold) return value;
  return fold === "NOCASE" ? foldName(value) : withoutLastSpaces(value);
}

/** Without a pattern, which would look at each space inside of the text for all that follow it. */
function withoutLastSpaces(text: string): string {
  let end = text.length;
  while (text[end - 1] === " ") end--;
  return text.slice(0, end);
}

function textOf(value: StoredValue): string {
  if (value === null) return "n";
  if (value instanceof OddText) return `x${value.bytes.toBase64()}`;
  if (value instanceof Uint8Array) return `b${value.toBase64()}`;
  return typeof value === "bigint" ? `i${value}` : typeof value === "number" ? `r${value}` : `t${value}`;
}
