// A value that somebody decides about: what of it is not written out is told, with where it stands.
import type { JsonValue } from "../../../lib/engine/statement_effect.ts";
import { counted } from "./figures.ts";
import type { Html } from "./html.ts";
import { LeftOut, PageRoom } from "./page_room.tsx";
import { Value } from "./value.tsx";
import { visibleText, visibleValue } from "./visible_text.ts";

/** Characters that stand in the cell itself. */
const SHOWN = 80;
/** Bytes of a blob that are written out. */
const BLOB_BYTES = 4096;

/** `other`: what it becomes, or was. A long text begins where the two differ, and opens as far as there is room. */
export function ChangedValue(
  { value, other = null, room = new PageRoom() }: {
    readonly value: JsonValue;
    readonly other?: JsonValue;
    readonly room?: PageRoom;
  },
): Html {
  if (typeof value === "object" && value !== null) return <Blob base64={value.$blob} room={room} />;
  if (typeof value !== "string" || value.length <= SHOWN) return <Value value={value} />;
  const from = typeof other === "string" ? Math.max(0, firstDifference(value, other) - SHOWN / 4) : 0;
  const cut = value.slice(from, from + SHOWN);
  const written = room.charactersOf(value.length);
  return (
    <details class="long">
      <summary>
        {from > 0 ? <span class="null">…</span> : null}
        {visibleValue(cut)}
        {from + SHOWN < value.length ? <span class="null">…</span> : null}
        <small>{counted(value.length, "character")}</small>
      </summary>
      <p>{visibleText(value.slice(0, written))}</p>
      <LeftOut room={room} shown={written} all={value.length} of="characters" />
    </details>
  );
}

function Blob({ base64, room }: { base64: string; room: PageRoom }): Html {
  const bytes = Uint8Array.fromBase64(base64);
  const shown = bytes.subarray(0, room.charactersOf(Math.min(bytes.length, BLOB_BYTES)));
  return (
    <details class="long">
      <summary>
        <span class="blob">{counted(bytes.length, "byte")}</span>
      </summary>
      <p>{shown.toHex().replace(/..(?!$)/g, "$& ")}</p>
      <LeftOut room={room} shown={shown.length} all={bytes.length} of="bytes" />
    </details>
  );
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at === one.length && one.length === other.length ? 0 : at;
}
