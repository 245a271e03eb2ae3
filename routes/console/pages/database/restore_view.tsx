// Before a restore: what it changes now, also to what others have written since, and the two ways to do it.
import { momentOf } from "../../../../lib/services/snapshots/archived_moment.ts";
import type { SnapshotView } from "../../../../lib/services/snapshots/manage_snapshots.ts";
import type { RestoreEffect } from "../../../../lib/sql/service/branch_report.ts";
import type { Visit } from "../../../http/visit.ts";
import type { Problem } from "../../frame/attempt.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { SchemaChanges, TableChanges } from "../../parts/changes.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { Field } from "../../parts/field.tsx";
import { exactTime } from "../../parts/exact_time.ts";
import { bytes, counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { PageRoom } from "../../parts/page_room.tsx";
import { Segments } from "../../parts/segments.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** Tables that a sentence names. */
const NAMED = 5;

/** What the page shows. */
export interface RestoreProps {
  readonly visit: Visit;
  /** Where the snapshots stand. */
  readonly base: string;
  /** The database, as in the address. */
  readonly path: string;
  readonly snapshot: string;
  /** Null: it is not in the list any more. */
  readonly taken: SnapshotView | null;
  /** Null: the present state cannot be read. */
  readonly effect: RestoreEffect | null;
  /** Whether columns are shown that stay as they are. */
  readonly all: boolean;
  /** How long the state before stays. */
  readonly days: number;
  readonly problem: Problem | null;
  readonly returned: Returned<"copy"> | null;
}

/** The page. */
export function Restore(props: RestoreProps): Html {
  const { base, snapshot, taken, effect, all } = props;
  const moment = momentOf(snapshot);
  const here = `${base}/${encodeURIComponent(snapshot)}/restore`;
  const room = new PageRoom();
  return (
    <>
      <Crumbs path={[["Snapshots", base]]} here={visibleText(snapshot)} />
      {taken === null ? null : (
        <p class="facts">
          <span>
            <Icon name="clock" size={14} />
            {moment === null
              ? (
                <>
                  taken <Time at={taken.createdAt} />
                </>
              )
              : `as it was at ${exactTime(moment)}`}
          </span>
          <span>{moment !== null ? "from the archive" : taken.automatic ? "before a write" : "by hand"}</span>
          <span>{bytes(taken.sizeBytes)}</span>
        </p>
      )}
      <div class="beside">
        <div class="stack">
          <Card
            id="effect"
            title="What a restore changes now"
            end={effect === null || effect.tables.length === 0 ? undefined : (
              <Segments
                label="Columns"
                segments={[
                  { name: "Changed columns", href: here, current: !all },
                  { name: "All", href: `${here}?columns=all`, current: all },
                ]}
              />
            )}
          >
            <p>{sentenceOf(effect)}</p>
          </Card>
          <SchemaChanges changes={effect?.schema ?? []} statements={[]} room={room} />
          {(effect?.tables ?? []).map((diff) => <TableChanges diff={diff} all={all} room={room} />)}
        </div>
        <div class="stack">
          <Copy {...props} />
          <InPlace {...props} here={here} />
        </div>
      </div>
    </>
  );
}

function sentenceOf(effect: RestoreEffect | null): string {
  if (effect === null) return "The present state cannot be read, so nobody can tell what that changes.";
  const { rows, tables, schema } = effect;
  if (rows === 0 && schema.length === 0) return "Nothing: the database is what the snapshot says.";
  const definitions = schema.length === 0 ? "" : ` and ${counted(schema.length, "definition")}`;
  return `${counted(rows, "row")} of ${
    counted(tables.length, "table")
  }${definitions}. Whatever was written since goes too.`;
}

function InPlace({ visit, path, effect, problem, here, days }: RestoreProps & { here: string }): Html {
  return (
    <Card id="in-place" title={`Or restore ${path} itself`}>
      <Form visit={visit} action={here} hidden={{ digest: effect?.digest ?? "" }} kind="form">
        {problem === null ? null : <Notice tone="bad">{problem.message}</Notice>}
        <p>
          <b>{lossOf(effect)}</b> Exactly what is shown here happens, or nothing.
        </p>
        <p>
          {effect === null
            ? "What is there now is set aside if it is damaged; otherwise a snapshot of it is taken first."
            : `A snapshot of now is taken first and stays ${counted(days, "day")}: it undoes the restore.`}
        </p>
        <Button kind="danger" icon="undo" wide>Restore it in place</Button>
      </Form>
    </Card>
  );
}

/** What everybody who uses the database will miss. */
function lossOf(effect: RestoreEffect | null): string {
  if (effect === null) return "All that is in the database now goes.";
  if (effect.rows === 0 && effect.schema.length === 0) return "Nothing is lost.";
  const tables = effect.tables.slice(0, NAMED).map(({ table }) => visibleText(table));
  const more = effect.tables.length - tables.length;
  const names = tables.length === 0
    ? ""
    : ` in ${tables.join(", ")}${more === 0 ? "" : ` and ${counted(more, "more table")}`}`;
  const definitions = effect.schema.length === 0 ? "" : ` and ${counted(effect.schema.length, "definition")}`;
  const become = effect.rows === 1 && definitions === "" ? "becomes what it was" : "become what they were";
  return `${
    counted(effect.rows, "row")
  }${names}${definitions} ${become}; what was written there since is lost.`;
}

function Copy({ visit, base, snapshot, returned }: RestoreProps): Html {
  const message = messageOf(returned, "copy");
  return (
    <Card id="copy" title="Make a new database of it">
      <Form visit={visit} action={`${base}/${encodeURIComponent(snapshot)}/copy`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <p>Nothing is lost: the present one stays as it is, and you look at both.</p>
        <Field
          label="Slug of the new database"
          {...fieldsOf(returned, "copy")("into")}
          placeholder="shop-yesterday"
          maxLength={64}
          required
        />
        <Button kind="primary" icon="plus">Make it</Button>
      </Form>
    </Card>
  );
}
