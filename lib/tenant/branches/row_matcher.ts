// Pairs rows of the two sides by their key, or by their content where the table has no key.
import type { EngineValue } from "../../engine/result_json.ts";
import { alone, type RowChange, sameRow, sameValue } from "./row_change.ts";
import type { TablePair } from "./table_pair.ts";
import type { Row } from "./work.ts";

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
      this.found.push(alone(row, side === "after"));
      return;
    }
    this.#count++;
    const rows = this.#held[side].get(key);
    if (rows) rows.push(row);
    else this.#held[side].set(key, [row]);
  }

  sameKey(a: Row, b: Row): boolean {
    return this.pair.key.length > 0 && this.pair.key.every((at) => sameValue(a[at], b[at]));
  }

  rest(): void {
    for (const rows of this.#held.before.values()) for (const row of rows) this.found.push(alone(row, false));
    for (const rows of this.#held.after.values()) for (const row of rows) this.found.push(alone(row, true));
    this.#held.before.clear();
    this.#held.after.clear();
    this.#count = 0;
  }

  #keyOf(row: Row): string {
    const { key } = this.pair;
    return (key.length === 0 ? row : key.map((at) => row[at] ?? null)).map(textOf).join("\u0000");
  }
}

function textOf(value: EngineValue): string {
  if (value === null) return "n";
  if (value instanceof Uint8Array) return `b${value.toBase64()}`;
  return typeof value === "bigint" ? `i${value}` : typeof value === "number" ? `r${value}` : `t${value}`;
}
