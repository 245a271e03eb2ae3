// What the page of the snapshots shows.
import { type Role, roleAtLeast } from "../../../../lib/core/role.ts";
import { momentOf } from "../../../../lib/services/snapshots/archived_moment.ts";
import type { SnapshotView } from "../../../../lib/services/snapshots/manage_snapshots.ts";
import type { Visit } from "../../../http/visit.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { exactTime } from "../../parts/exact_time.ts";
import { bytes, counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import type { PagePlace } from "../../frame/database_pages.ts";

/** What the page tells. */
export interface SnapshotsProps {
  readonly visit: Visit;
  readonly at: PagePlace;
  /** The reader's role at the database. */
  readonly role: Role;
  readonly snapshots: readonly SnapshotView[];
  /** Whether moments of the database can be brought back too. */
  readonly archives: boolean;
  /** The label that undoes the restore that has just been made. */
  readonly undo: string | null;
  readonly returned: Returned<"take"> | null;
}

/** The page. */
export function Snapshots(props: SnapshotsProps): Html {
  const { role, snapshots, archives, undo, at } = props;
  // Only what is there is offered: the address may say anything.
  const undoes = snapshots.find(({ label }) => label === undo);
  return (
    <div class={roleAtLeast(role, "write") ? "beside" : "stack"}>
      <div class="stack">
        {undoes === undefined ? null : (
          <Notice tone="good">
            The database is what the snapshot says. What it was before is a snapshot too:{" "}
            <a href={restorePath(at.base, undoes.label)}>undo the restore</a>.
          </Notice>
        )}
        {snapshots.length === 0 ? <Nothing {...props} /> : <List {...props} />}
      </div>
      {roleAtLeast(role, "write")
        ? (
          <div class="stack">
            <Take {...props} />
            {archives && roleAtLeast(role, "admin") ? <Moment {...props} /> : null}
          </div>
        )
        : null}
    </div>
  );
}

function restorePath(base: string, label: string): string {
  return `${base}/${encodeURIComponent(label)}/restore`;
}

function List({ snapshots, role, at }: SnapshotsProps): Html {
  const restores = roleAtLeast(role, "admin");
  return (
    <Card
      id="snapshots"
      title="Snapshots"
      about={`${counted(snapshots.length, "snapshot")}, newest first`}
      full
    >
      <Grid
        label="List of snapshots"
        columns={[
          { name: "Label" },
          { name: "Taken" },
          { name: "Size", numeric: true },
          ...(restores ? [{ name: "Restore", unseen: true }] : []),
        ]}
        rows={snapshots.map(({ label, createdAt, sizeBytes, automatic }) => [
          <>
            <code>{visibleText(label)}</code>
            {automatic ? <small>{origin(label)}</small> : null}
          </>,
          <Time at={createdAt} />,
          bytes(sizeBytes),
          ...(restores
            ? [
              <a
                class="quiet"
                href={restorePath(at.base, label)}
                aria-label={`Restore ${visibleText(label)}`}
              >
                Restore …
              </a>,
            ]
            : []),
        ])}
      />
    </Card>
  );
}

/** Why the service has taken it. */
function origin(label: string): string {
  const moment = momentOf(label);
  if (moment !== null) return `as it was at ${exactTime(moment)}`;
  return /^auto-\w+-restore-/.test(label) ? "before a restore: its undo" : "before a write";
}

function Take({ visit, at, returned }: SnapshotsProps): Html {
  const message = messageOf(returned, "take");
  return (
    <Card id="take" title="Take a snapshot">
      <Form visit={visit} action={at.base} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field
          label="Label"
          {...fieldsOf(returned, "take")("label")}
          hint="Empty: it is named after the time"
          placeholder="before-import"
          maxLength={100}
        />
        <Button kind="primary" icon="history">Take it now</Button>
      </Form>
    </Card>
  );
}

/** Between two snapshots there is every moment. */
function Moment({ at }: SnapshotsProps): Html {
  return (
    <Card id="moment" title="Back to a moment">
      <div class="form">
        <p class="note">This database is archived: it can be brought back as it was at any moment.</p>
        <Button icon="history" href={at.base.replace(/snapshots$/, "archive")}>Choose a moment</Button>
      </div>
    </Card>
  );
}

function Nothing({ at: { namespace, path, baseUrl } }: SnapshotsProps): Html {
  return (
    <EmptyCard icon="history" title="No snapshot yet">
      <p>
        One is taken before every statement that may lose rows or definitions, and kept for some days. Take
        one yourself before an import, here or from a terminal:
      </p>
      <CopyLine
        label="the call"
        text={`curl -X POST -H "Authorization: Bearer $TOKEN" ${baseUrl}/v1/db/${namespace}/${path}/snapshots`}
      />
    </EmptyCard>
  );
}
