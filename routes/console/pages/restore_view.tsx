// Before a restore: what it changes now, also to what others have written since, and the two ways to do it.
import type { SnapshotView } from "../../../lib/services/snapshots/manage_snapshots.ts";
import type { RestoreEffect } from "../../../lib/sql/branch_report.ts";
import type { Visit } from "../../http/visit.ts";
import type { Problem } from "../frame/attempt.ts";
import { fieldsOf, messageOf, type Returned } from "../frame/returned.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { SchemaChanges, TableChanges } from "../parts/changes.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Field } from "../parts/field.tsx";
import { bytes, counted } from "../parts/figures.ts";
import { Form } from "../parts/form.tsx";
import type { Html } from "../parts/html.ts";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Segments } from "../parts/segments.tsx";
import { Time } from "../parts/time.tsx";
import { visibleText } from "../parts/visible_text.ts";

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
  readonly problem: Problem | null;
  readonly returned: Returned<"copy"> | null;
}

/** The page. */
export function Restore(props: RestoreProps): Html {
  const { base, snapshot, taken, effect, all } = props;
  const here = `${base}/${encodeURIComponent(snapshot)}/restore`;
  return (
    <>
      <Crumbs path={[["Snapshots", base]]} here={visibleText(snapshot)} />
      {taken === null ? null : (
        <p class="facts">
          <span>
            <Icon name="clock" size={14} /> taken <Time at={taken.createdAt} />
          </span>
          <span>{taken.automatic ? "before a write" : "by hand"}</span>
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
          <SchemaChanges changes={effect?.schema ?? []} statements={[]} />
          {(effect?.tables ?? []).map((diff) => <TableChanges diff={diff} all={all} />)}
        </div>
        <div class="stack">
          <InPlace {...props} here={here} />
          <Copy {...props} />
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

function InPlace({ visit, path, effect, problem, here }: RestoreProps & { here: string }): Html {
  return (
    <Card id="in-place" title={`Restore ${path}`}>
      <Form visit={visit} action={here} hidden={{ digest: effect?.digest ?? "" }} kind="form">
        {problem === null ? null : <Notice tone="bad">{problem.message}</Notice>}
        <p>
          Exactly what is shown here happens, or nothing. A snapshot of now is taken first, so it can be
          undone.
        </p>
        <Button kind="danger" icon="undo" wide>Restore it in place</Button>
      </Form>
    </Card>
  );
}

function Copy({ visit, base, snapshot, returned }: RestoreProps): Html {
  const message = messageOf(returned, "copy");
  return (
    <Card id="copy" title="Or make a new database of it">
      <Form visit={visit} action={`${base}/${encodeURIComponent(snapshot)}/copy`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field
          label="Slug of the new database"
          {...fieldsOf(returned, "copy")("into")}
          placeholder="shop-yesterday"
          maxLength={64}
          required
        />
        <Button icon="plus">Make it</Button>
      </Form>
    </Card>
  );
}
