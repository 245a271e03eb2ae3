// A value that somebody decides about: none of it may be hidden, however long it is.
import type { JsonValue } from "../../../lib/engine/statement_effect.ts";
import { counted } from "./figures.ts";
import type { Html } from "./html.ts";
import { Value } from "./value.tsx";
import { visibleText, visibleValue } from "./visible_text.ts";

/** Characters that stand in the cell itself. */
const SHOWN = 80;
/** Bytes of a blob that are written out. */
const BLOB_BYTES = 4096;

/** `other`: what it becomes, or was. A long text begins where the two differ, and opens as a whole. */
export function ChangedValue(
  { value, other = null }: { value: JsonValue; other?: JsonValue },
): Html {
  if (typeof value === "object" && value !== null) return <Blob base64={value.$blob} />;
  if (typeof value !== "string" || value.length <= SHOWN) return <Value value={value} />;
  const from = typeof other === "string" ? Math.max(0, firstDifference(value, other) - SHOWN / 4) : 0;
  const cut = value.slice(from, from + SHOWN);
  return (
    <details class="long">
      <summary>
        {from > 0 ? <span class="null">…</span> : null}
        {visibleValue(cut)}
        {from + SHOWN < value.length ? <span class="null">…</span> : null}
        <small>{counted(value.length, "character")}</small>
      </summary>
      <p>{visibleText(value)}</p>
    </details>
  );
}

function Blob({ base64 }: { base64: string }): Html {
  const bytes = Uint8Array.fromBase64(base64);
  const hex = bytes.subarray(0, BLOB_BYTES).toHex().replace(/..(?!$)/g, "$& ");
  return (
    <details class="long">
      <summary>
        <span class="blob">{counted(bytes.length, "byte")}</span>
      </summary>
      <p>{bytes.length > BLOB_BYTES ? `${hex} …` : hex}</p>
    </details>
  );
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at === one.length && one.length === other.length ? 0 : at;
}
