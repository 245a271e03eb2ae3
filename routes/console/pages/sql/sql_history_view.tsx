// What the reader has run in this database.
import type { HistoryEntry } from "../../../../lib/services/editor/read_history.ts";
import { Card } from "../../parts/card.tsx";
import { whole } from "../../parts/figures.ts";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Pill } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** Characters of a text that its line shows. */
const SHOWN = 120;

/** Each text leads into the editor; its values are in no log and have to be typed again. */
export function History({ base, entries }: { base: string; entries: readonly HistoryEntry[] }): Html {
  return (
    <Card
      id="history"
      title="History"
      about="What you have run here, each text once"
      end={<a href={`${base}/sql`}>Close</a>}
      full
    >
      {entries.length === 0 ? <p class="note body">You have run nothing here yet.</p> : (
        <Grid
          label="History"
          kind="list history"
          columns={[
            { name: "Statement" },
            { name: "When" },
            { name: "Rows read", numeric: true },
            { name: "Written", numeric: true },
            { name: "Time", numeric: true },
          ]}
          rows={entries.map(({ at, sql, ok, rowsRead, rowsWritten, durationMs }) => [
            <>
              <a href={`${base}/sql?${new URLSearchParams({ sql })}`}>
                <code>{visibleText(sql.replace(/\s+/g, " ").slice(0, SHOWN))}</code>
              </a>
              {ok ? null : (
                <>
                  {" "}
                  <Pill tone="bad">failed</Pill>
                </>
              )}
            </>,
            <Time at={at} />,
            whole(rowsRead),
            whole(rowsWritten),
            `${Math.round(durationMs)} ms`,
          ])}
        />
      )}
    </Card>
  );
}
