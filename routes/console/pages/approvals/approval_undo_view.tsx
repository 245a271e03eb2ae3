// Before an approved write is taken back: what that does now, also to what others have written since.
import type { ApprovalPage } from "../../../../lib/services/approvals/read_approvals.ts";
import type { UndoPreview } from "../../../../lib/services/approvals/undo_approval.ts";
import type { Visit } from "../../../http/visit.ts";
import type { Problem } from "../../frame/attempt.ts";
import { Button } from "../../parts/button.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { counted, whole } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { PageHead } from "../../parts/page_head.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { sentenceOf } from "./approval_words.ts";

/** What the page shows. */
export interface UndoProps {
  readonly visit: Visit;
  readonly approval: ApprovalPage;
  readonly preview: UndoPreview;
  /** Path of the approval. */
  readonly path: string;
  readonly problem: Problem | null;
}

/** The page. */
export function Undo({ visit, approval, preview, path, problem }: UndoProps): Html {
  const { tables, schema, rows, snapshot, digest } = preview;
  return (
    <>
      <Crumbs path={[["The approval", path]]} here="Take it back" />
      <PageHead title={`Take it back in ${approval.databaseSlug}?`} about={sentenceOf(approval)} />
      <section class="card narrow" aria-label="What taking it back does">
        <div class="body form">
          {problem === null ? null : <Notice tone="bad">{problem.message}</Notice>}
          <p>
            The database becomes what it was right before, in the snapshot <code>{snapshot}</code>.{" "}
            <b>Whatever was written since goes too.</b> {rows === null
              ? "The present state cannot be read, so nobody can tell what that changes."
              : rows === 0
              ? "Nothing differs from that state now."
              : `Now that changes ${counted(rows, "row")}:`}
          </p>
          {tables.length === 0 ? null : (
            <Grid
              label="Tables that change"
              columns={[
                { name: "Table" },
                { name: "Come back", numeric: true },
                { name: "Go", numeric: true },
                { name: "Change", numeric: true },
              ]}
              rows={tables.map(({ table, added, removed, changed }) => [
                visibleText(table),
                whole(added),
                whole(removed),
                whole(changed),
              ])}
            />
          )}
          {schema.length === 0 ? null : (
            <ul>
              {schema.map(({ type, name, change }) => <li>{`${type} ${visibleText(name)}: ${change}`}</li>)}
            </ul>
          )}
          <p class="note">A snapshot of the state of now is taken first, so this can be undone as well.</p>
          <Form visit={visit} action={`${path}/undo`} hidden={{ digest: digest ?? "" }}>
            <div class="end">
              <Button kind="danger" icon="undo">Take it back</Button>
              <Button href={path}>Leave it</Button>
            </div>
          </Form>
        </div>
      </section>
    </>
  );
}
