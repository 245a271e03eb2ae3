// SQL in colours, made on the server by the names that the editor uses.
import { colouredTokens } from "../../../lib/sql/grammar/coloured_tokens.ts";
import type { TextSpan } from "../../../lib/sql/hints/failed_span.ts";
import type { Html } from "./html.ts";
import { LeftOut, LONGEST_SQL, PageRoom } from "./page_room.tsx";
import { visibleLines } from "./visible_text.ts";

/** Characters from which on a text has no colours: nobody reads it. */
const MOST_COLOURED = 20_000;

/** The text in a region of its own, as far as there is room. `failed` is marked. */
export function SqlText(
  { sql, label = "Statement", failed = null, room = new PageRoom() }: {
    readonly sql: string;
    readonly label?: string;
    readonly failed?: TextSpan | null;
    /** Of the page, where it shows more than this. */
    readonly room?: PageRoom;
  },
): Html {
  const written = room.charactersOf(sql.length, LONGEST_SQL);
  const text = sql.slice(0, written);
  return (
    <>
      <pre class="sql" tabindex={0} role="region" aria-label={`${label}, text`}>
        <code>{failed === null ? <Coloured sql={text} /> : <Marked sql={text} failed={failed} />}</code>
      </pre>
      <LeftOut room={room} shown={written} all={sql.length} of="characters" />
    </>
  );
}

/** The text inside of a line. */
export function Coloured({ sql }: { sql: string }): Html {
  if (sql.length > MOST_COLOURED) return <>{visibleLines(sql)}</>;
  return (
    <>
      {colouredTokens(sql).map(({ text, colour }) =>
        colour === null ? visibleLines(text) : <span class={`tok-${colour}`}>{visibleLines(text)}</span>
      )}
    </>
  );
}

function Marked({ sql, failed }: { sql: string; failed: TextSpan }): Html {
  const { from, to } = failed;
  return (
    <>
      <Coloured sql={sql.slice(0, from)} />
      <mark class="sql-failed">{from < to ? visibleLines(sql.slice(from, to)) : " "}</mark>
      <Coloured sql={sql.slice(to)} />
    </>
  );
}
