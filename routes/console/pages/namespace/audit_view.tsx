// What the page of the audit shows.
import type { AuditEntry } from "../../../../lib/services/audit/read_audit.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { PageHead } from "../../parts/page_head.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** What the page tells. */
export interface AuditProps {
  readonly visit: Visit;
  readonly namespace: string;
  /** The database whose changes are listed; null: what was done in the namespace. */
  readonly database: string | null;
  /** Slugs to choose from. */
  /** Null: more than a list is good for. */
  readonly databases: readonly string[] | null;
  readonly entries: readonly AuditEntry[];
  readonly nextCursor: string | null;
}

/** The page. */
export function Audit({ visit, namespace, database, databases, entries, nextCursor }: AuditProps): Html {
  const here = `/console/${namespace}/audit`;
  const further = new URLSearchParams({
    ...(database === null ? {} : { database }),
    after: nextCursor ?? "",
  });
  return (
    <>
      <PageHead
        title="Audit"
        about={database === null
          ? "Who changed what in this namespace. No secret, no statement and no value of a row is kept here."
          : `Every change of rows or schema in ${database}, and who asked for it.`}
      />
      <div class="stack">
        <Form visit={visit} action={here} method="get" kind="filter-line">
          <Field
            label={databases === null ? "Of one database" : "Of"}
            name="database"
            value={database ?? ""}
            {...(databases === null ? { maxLength: 128 } : {
              choices: [["", "the namespace"], ...databases.map((one) => [one, `rows of ${one}`] as const)],
            })}
          />
          <Button>Show</Button>
        </Form>
        {entries.length === 0
          ? (
            <EmptyCard icon="audit" title="Nothing yet">
              <p>
                {database === null
                  ? "Tokens, members, rules, endpoints, decisions and databases: whatever somebody changes is listed here."
                  : `Nobody has changed anything in ${database}.`}
              </p>
            </EmptyCard>
          )
          : (
            <Card
              id="entries"
              title="Newest first"
              full
              foot={nextCursor === null ? undefined : <a href={`${here}?${further}`}>Older entries</a>}
            >
              <Grid
                label="Audit"
                columns={[{ name: "When" }, { name: "Who" }, { name: "Did" }, { name: "To" }, {
                  name: "More",
                }]}
                rows={entries.map((entry) => [
                  <Time at={entry.at} />,
                  <Who {...entry} />,
                  wordsFor(entry.action),
                  <To {...entry} />,
                  <More {...entry} />,
                ])}
              />
            </Card>
          )}
      </div>
    </>
  );
}

function Who({ actor, actorName }: AuditEntry): Html {
  if (actorName === null || actorName === actor) return <>{actor}</>;
  return (
    <>
      {visibleText(actorName)}
      <small class="mono">{actor}</small>
    </>
  );
}

function To({ database, target }: AuditEntry): Html {
  return (
    <>
      {database ?? ""}
      {target === null || target === database ? null : <small class="mono">{target}</small>}
    </>
  );
}

function More({ facts }: AuditEntry): Html {
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== "");
  return (
    <small>{known.map(([name, value]) => `${spaced(name)}: ${visibleText(String(value))}`).join(", ")}</small>
  );
}

/** "rowsWritten" → "rows written". */
function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Acts of a member's own: who it was stands beside them. */
const own: Readonly<Record<string, string>> = {
  "member.signed_in": "signed in",
  "member.joined": "came in for the first time",
  "account.link_made": "made a link for an account",
  "account.unlocked": "opened an account again",
  "mail.failed": "could not send a mail",
  "endpoint.moved": "changed the status of an endpoint",
  "credit.added": "added credit",
  "approval.approved": "approved a write",
  "approval.denied": "denied a write",
  "approval.undone": "took a write back",
};

/** "token.created" → "created a token"; the operation of a statement as it is. */
function wordsFor(action: string): string {
  const words = own[action];
  if (words !== undefined) return words;
  const [noun, verb] = action.split(".");
  if (noun === undefined || verb === undefined) return action.replaceAll("_", " ");
  const article = /^[aeiou]/.test(noun) ? "an" : "a";
  return `${verb.replaceAll("_", " ")} ${article} ${noun}`;
}
