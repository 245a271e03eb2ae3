// The last writes of an archived database, by which a person finds the moment that is wanted.
import type { WriteView } from "../../../../lib/services/snapshots/list_writes.ts";
import { roleAtLeast } from "../../../../lib/core/role.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { exactTime } from "../../parts/exact_time.ts";
import { Field } from "../../parts/field.tsx";
import { whole } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { visibleText } from "../../parts/visible_text.ts";
import type { ArchiveProps } from "./archive_props.ts";

/** Characters of a text that its line shows. */
const SHOWN = 80;

/** The card; with a form that asks for earlier ones. */
export function Writes({ visit, base, role, archive, writes, older, asked, names }: ArchiveProps): Html {
  const here = `${base}/archive`;
  const restores = roleAtLeast(role, "admin");
  const fromMs = archive.archivedFrom === null ? null : Date.parse(archive.archivedFrom);
  return (
    <Card
      id="writes"
      title="Last writes"
      about="newest first, times in UTC"
      full
      foot={older === null ? undefined : <a href={hrefOf(here, asked.until, older)}>Older writes</a>}
    >
      <div class="body">
        <Form visit={visit} action={here} method="get" kind="filter-fields">
          <Field
            label="Writes before, in UTC"
            name="until"
            value={asked.until ?? ""}
            type="datetime-local"
            step="1"
          />
          <Button icon="search">Show</Button>
          {asked.until === null && !asked.isPage ? null : <a href={here}>The newest</a>}
        </Form>
      </div>
      {writes.length === 0 ? <p class="body note">No write before then is in the log any more.</p> : (
        <Grid
          label="List of writes"
          kind="list history"
          columns={[
            { name: "Write" },
            { name: "Began" },
            { name: "Who" },
            { name: "Rows", numeric: true },
            ...(restores ? [{ name: "Go back", unseen: true }] : []),
          ]}
          rows={writes.map((write) => [
            <Write write={write} base={base} />,
            <span class="nowrap">{exactTime(write.at).replace(" UTC", "")}</span>,
            visibleText(names.get(write.actor) ?? write.actor.replace(/^endpoint:/, "endpoint ")),
            whole(write.rowsWritten),
            ...(restores
              ? [
                fromMs === null || Date.parse(write.justBefore) < fromMs
                  ? (
                    <span class="note">
                      {fromMs !== null
                        ? "before the archive"
                        : archive.problem === null
                        ? "not archived yet"
                        : "not now"}
                    </span>
                  )
                  : (
                    <Form
                      visit={visit}
                      action={`${here}/moment`}
                      hidden={{ at: write.justBefore.replace("Z", "") }}
                    >
                      <Button small icon="undo">
                        <span>
                          Just before<span class="unseen">{exactTime(write.at)}</span> …
                        </span>
                      </Button>
                    </Form>
                  ),
              ]
              : []),
          ])}
        />
      )}
    </Card>
  );
}

function Write({ write, base }: { write: WriteView; base: string }): Html {
  const { sql, operation, queryLogId, tables } = write;
  const line = (sql ?? "").replace(/\s+/g, " ");
  const text = visibleText(line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line) || operation;
  return (
    <>
      {sql === null ? <code>{text}</code> : (
        <a href={`${base}/log?id=${encodeURIComponent(queryLogId)}`}>
          <code>{text}</code>
        </a>
      )}
      {tables.length === 0 ? null : <small>{visibleText(tables.join(", "))}</small>}
    </>
  );
}

function hrefOf(here: string, until: string | null, after: string): string {
  return `${here}?${new URLSearchParams({ ...(until === null ? {} : { until }), after })}`;
}
