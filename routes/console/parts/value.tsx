// A value of a row as text that the server has made: exact, with its kind to be seen.
import type { JsonValue } from "../../../lib/engine/statement_effect.ts";
import { counted } from "./figures.ts";
import type { Html } from "./html.ts";
import { visibleValue } from "./visible_text.ts";

/** A value. */
export interface ValueProps {
  readonly value: JsonValue;
  /** Characters of the text or bytes of the blob, where `value` is only the beginning. */
  readonly length?: number | null;
}

/** Characters of a text that a cell shows. */
const SHOWN = 200;
/** Characters that stand in one line; a longer text has several, so that it pushes no other column away. */
const LINE = 40;
/** Bytes of a blob that its title shows. */
const BLOB_BYTES = 12;

/** NULL, blobs by size, integers beyond 2^53 as digits, text with nothing invisible. */
export function Value(props: ValueProps): Html {
  return <>{shownValue(props)}</>;
}

/** The same as a child, for grids: a component for each of thousands of cells would take several times as long. */
export function shownValue({ value, length = null }: ValueProps): string | Html {
  if (value === null) return <span class="null">NULL</span>;
  if (typeof value === "number") return String(value);
  if (typeof value === "object") return Blob({ base64: value.$blob, length });
  if (isLarge(value)) return <span class="exact" title="Beyond 2^53: exact, sent as text">{value}</span>;
  const all = length ?? value.length;
  if (value === "") return <span class="null">empty text</span>;
  if (all <= LINE) return visibleValue(value);
  if (all <= SHOWN && value.length <= SHOWN) return <span class="wide">{visibleValue(value)}</span>;
  return (
    <span class="wide" title={counted(all, "character")}>
      {visibleValue(value.slice(0, SHOWN))}
      <span class="null">…</span>
    </span>
  );
}

function Blob({ base64, length }: { base64: string; length: number | null }): Html {
  const bytes = Uint8Array.fromBase64(base64);
  const size = length ?? bytes.length;
  const start = bytes.subarray(0, BLOB_BYTES).toHex().replace(/..(?!$)/g, "$& ");
  return <span class="blob" title={size > BLOB_BYTES ? `${start} …` : start}>{counted(size, "byte")}</span>;
}

/** Whether a text is an INTEGER that JSON has no number for. */
function isLarge(value: JsonValue): boolean {
  return typeof value === "string" && /^-?\d{16,19}$/.test(value) && !Number.isSafeInteger(Number(value));
}

/** Whether a column of these values is one of numbers, which stand at the right. */
export function isNumeric(values: readonly JsonValue[]): boolean {
  const told = values.filter((value) => value !== null);
  return told.length > 0 && told.every((value) => typeof value === "number" || isLarge(value));
}
