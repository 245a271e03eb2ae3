// What the page of the archive shows: how it stands, a form for a moment, and the last writes with the moment before each.
import { roleAtLeast } from "../../../../lib/core/role.ts";
import { fieldsOf, messageOf } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";
import type { Html } from "../../parts/html.ts";
import type { ArchiveProps } from "./archive_props.ts";
import { ArchiveOff } from "./archive_off_view.tsx";
import { exactTime } from "../../parts/exact_time.ts";
import { ArchiveState } from "./archive_state_view.tsx";
import { Writes } from "./archive_writes_view.tsx";

/** The page. */
export function Archive(props: ArchiveProps): Html {
  const { archive, role, returned } = props;
  const message = messageOf(returned, "moment");
  const restores = roleAtLeast(role, "admin");
  return (
    <div class="stack">
      {message === null ? null : <Notice tone="bad">{message}</Notice>}
      {archive.on ? <ArchiveState {...props} /> : <ArchiveOff {...props} />}
      {archive.on && restores
        ? (
          <p class="facts jumps">
            <a href="#moment">Back to a moment</a>
          </p>
        )
        : null}
      {archive.on
        ? (
          <div class={restores ? "beside" : "stack"}>
            <div class="stack">
              {props.writes.length > 0 || props.asked.until !== null || props.asked.isPage
                ? <Writes {...props} />
                : <NoWrites />}
            </div>
            {restores
              ? (
                <div class="stack">
                  <Moment {...props} />
                </div>
              )
              : null}
          </div>
        )
        : null}
    </div>
  );
}

/** Leads to the page that shows what would change; a moment is named to the second, or to the millisecond. */
function Moment({ visit, base, archive, nowMs, returned }: ArchiveProps): Html {
  const { archivedFrom } = archive;
  const now = exactTime(nowMs).replace(/\.\d+/, "");
  const bounds = archivedFrom === null
    ? `Until now, ${now}`
    : `From ${exactTime(archivedFrom)} until now, ${now}`;
  return (
    <Card id="moment" title="Back to a moment">
      <Form visit={visit} action={`${base}/archive/moment`} kind="form">
        <Field
          label="Moment, in UTC"
          {...fieldsOf(returned, "moment")("at")}
          type="datetime-local"
          step="0.001"
          hint={bounds}
          required
        />
        <p class="note">
          The database as it was then is put together from the archive and becomes a snapshot, which takes
          some seconds, or minutes for a large one. The next page shows row by row what going back would
          change; until you say so there, nothing does.
        </p>
        <Button kind="primary" icon="history">Show that moment</Button>
      </Form>
    </Card>
  );
}

function NoWrites(): Html {
  return (
    <EmptyCard icon="history" title="Nothing has been written yet">
      <p>Every write stands here with its time, and a way to the moment just before it.</p>
    </EmptyCard>
  );
}
