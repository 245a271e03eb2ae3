// Items as frames, and back.
import { END, FRAME_HEAD, frameBytes, ITEM_FRAME, ROWS_FRAME } from "../frame_form.ts";
import { exactValue, type WireValue, wireValue } from "./exact_value.ts";
import type { Item, RowsItem } from "./items.ts";

/** What follows the length and the kind. */
interface WireRows extends Omit<RowsItem, "rows"> {
  readonly rows: readonly (readonly WireValue[])[];
}

const decoder = new TextDecoder();

/** The frame of an item. */
export function frameOf(item: Item): Uint8Array {
  if (item.t === "rows") {
    const rows = item.rows.map((row) => row.map(wireValue));
    return frameBytes(ROWS_FRAME, JSON.stringify({ ...item, rows }));
  }
  const json = JSON.stringify(item, (_, value) => typeof value === "bigint" ? wireValue(value) : value);
  return frameBytes(ITEM_FRAME, json);
}

/** The item of a frame's JSON. */
export function itemOf(bytes: Uint8Array): Item {
  const parsed = parse(decoder.decode(bytes));
  switch (parsed.t) {
    case "rows":
      return { ...parsed, rows: parsed.rows.map((row) => row.map(exactValue)) };
    case "sequence":
    case "version":
      return { ...parsed, value: integer(parsed.value) };
    case "config":
      return { ...parsed, value: exactValue(parsed.value) };
    default:
      return parsed;
  }
}

type Whole = Exclude<Item, { t: "rows" | "sequence" | "version" | "config" }>;
type Valued =
  | Omit<Extract<Item, { t: "sequence" }>, "value"> & { readonly value: WireValue }
  | Omit<Extract<Item, { t: "version" }>, "value"> & { readonly value: WireValue }
  | Omit<Extract<Item, { t: "config" }>, "value"> & { readonly value: WireValue };

/** Guarantee: `frameOf` has made the JSON, or the service of such a frame. */
function parse(json: string): WireRows | Whole | Valued {
  return JSON.parse(json);
}

function integer(value: WireValue): bigint {
  const exact = exactValue(value);
  return typeof exact === "bigint" ? exact : 0n;
}

/** The JSON of each frame on standard input. Throws where it ends inside of one, or before the last one. */
export function* inputFrames(): Generator<Uint8Array> {
  let input = new Uint8Array(1 << 20);
  let filled = 0;
  for (;;) {
    const length = filled < FRAME_HEAD ? null : new DataView(input.buffer).getUint32(0);
    if (length === END) return;
    const whole = length === null ? FRAME_HEAD : FRAME_HEAD + length;
    if (length !== null && filled >= whole) {
      yield input.subarray(FRAME_HEAD, whole);
      input.copyWithin(0, whole, filled);
      filled -= whole;
      continue;
    }
    if (input.length < whole) {
      const grown = new Uint8Array(whole);
      grown.set(input.subarray(0, filled));
      input = grown;
    }
    const count = Deno.stdin.readSync(input.subarray(filled));
    // Whoever reads the file says why.
    if (count === null) throw new Error("what was read has no end");
    filled += count;
  }
}
