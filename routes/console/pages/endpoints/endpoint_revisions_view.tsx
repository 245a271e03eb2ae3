// The revisions of an endpoint, and one of them beside the present specification.
import { diffLines } from "diff";
import type { EndpointView } from "../../../../lib/services/endpoints/endpoint_context.ts";
import type { RevisionView } from "../../../../lib/services/endpoints/revisions.ts";
import { endpointSpec } from "../../../../lib/core/endpoint_spec.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Time } from "../../parts/time.tsx";
import { visibleLines, visibleText } from "../../parts/visible_text.ts";

/** What the cards show. */
export interface RevisionsProps {
  readonly visit: Visit;
  readonly endpoint: EndpointView;
  readonly manages: boolean;
  readonly revisions: readonly RevisionView[];
  /** Id of whoever made one → its name. */
  readonly names: ReadonlyMap<string, string>;
  /** The number of the one that is compared with the present one. */
  readonly compared: number | null;
  /** Where the endpoint stands. */
  readonly path: string;
}

/** The list, and above it a comparison. */
export function Revisions(props: RevisionsProps): Html {
  const { revisions, names, compared, path } = props;
  const other = revisions.find(({ revision }) => revision === compared);
  return (
    <>
      {other === undefined ? null : <Compared {...props} other={other} />}
      <Card id="revisions" title="Revisions" about="newest first" full>
        <Grid
          label="List of revisions"
          columns={[{ name: "Revision" }, { name: "What" }, { name: "Who" }, { name: "When" }]}
          rows={revisions.map(({ revision, change, actor, status, at }) => [
            <a href={`${path}?compare=${revision}#compared`}>{String(revision)}</a>,
            change === "status" ? `now ${status}` : change,
            visibleText(names.get(actor) ?? actor),
            <Time at={at} />,
          ])}
        />
      </Card>
    </>
  );
}

/** Marks of a line that goes, comes or stays. */
const signs = { removed: "−", added: "+", same: " " } as const;

function Compared({ visit, endpoint, manages, path, other }: RevisionsProps & { other: RevisionView }): Html {
  const same = textOf(endpoint) === textOf(other.spec);
  const parts = diffLines(textOf(endpoint), textOf(other.spec), { timeout: 200 }) ?? [];
  return (
    <Card
      id="compared"
      title={`From now to revision ${other.revision}`}
      end={<a href={path}>Close</a>}
      foot={manages && other.revision !== endpoint.revision
        ? (
          <Form visit={visit} action={`${path}/restore`} hidden={{ revision: String(other.revision) }}>
            <Button icon="undo">Make revision {String(other.revision)} the present one</Button>
          </Form>
        )
        : undefined}
      full
    >
      {same
        ? <p class="body">It says the same as the present one.</p>
        : (
          <pre class="sql text-diff" tabindex={0} role="region" aria-label="Comparison">
        <code>
          {parts.map(({ value, added, removed }) => {
            const kind = added ? "added" : removed ? "removed" : "same";
            return (
              <span class={`diff-${kind}`}>
                {value.replace(/\n$/, "").split("\n").map((line) => `${signs[kind]} ${visibleLines(line)}\n`)}
              </span>
            );
          })}
        </code>
          </pre>
        )}
    </Card>
  );
}

/** Its members in the order of the schema, so that equal ones stand on equal lines. */
function textOf(spec: object): string {
  const members = new Map(Object.entries(spec));
  const ordered = Object.keys(endpointSpec.shape).flatMap((name) =>
    members.get(name) === undefined ? [] : [[name, members.get(name)]]
  );
  return `${JSON.stringify(Object.fromEntries(ordered), null, 2)}\n`;
}
