// What the page of the branches shows.
import type { BranchClaim } from "../../../../lib/services/branches/claim_branch.ts";
import type { BranchView } from "../../../../lib/services/branches/manage_branches.ts";
import type { Visit } from "../../../http/visit.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { bytes, counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Pill } from "../../parts/pill.tsx";
import { ShownOnce } from "../../parts/shown_once.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import type { PagePlace } from "../../frame/database_pages.ts";

/** What the page tells. */
export interface BranchesProps {
  readonly visit: Visit;
  /** `path`: of the trunk. */
  readonly at: PagePlace;
  readonly branches: readonly BranchView[];
  /** A branch that has just been claimed, with its token. */
  readonly claim: BranchClaim | null;
  readonly returned: Returned<"claim"> | null;
}

/** The page. */
export function Branches(props: BranchesProps): Html {
  const { visit, at, branches, claim } = props;
  const manages = mayManage(visit, at.namespace);
  return (
    <div class={manages ? "beside" : "stack"}>
      <div class="stack">
        {claim === null ? null : <Claimed {...props} claim={claim} />}
        {branches.length === 0 ? <Nothing {...props} /> : <List {...props} />}
      </div>
      {manages ? <Claim {...props} /> : null}
    </div>
  );
}

function Claimed({ claim, at }: BranchesProps & { claim: BranchClaim }): Html {
  const { branchRef, databaseSlug, token, role, outcome, expiresAt } = claim;
  return (
    <Card
      id="claimed"
      title={`Branch ${branchRef} is yours`}
      about={outcome === "reset" ? "a fresh copy again" : undefined}
      end={<ShownOnce />}
    >
      <div class="form">
        <p>
          Its token reaches this branch and nothing else, with the role {role}, until{" "}
          <Time at={expiresAt} />. Copy it now: it is stored nowhere.
        </p>
        <CopyLine label="the token" text={token} />
        <p class="note">A first call with it:</p>
        <CopyLine
          label="the call"
          text={`curl -H "Authorization: Bearer ${token}" ${at.baseUrl}/v1/db/${at.namespace}/${databaseSlug}/query -d '{"sql":"SELECT 1"}'`}
        />
      </div>
    </Card>
  );
}

function List({ branches, at }: BranchesProps): Html {
  return (
    <Card id="branches" title="Branches" about={counted(branches.length, "copy", "copies")} full>
      <Grid
        label="List of branches"
        columns={[
          { name: "Branch" },
          { name: "What for" },
          { name: "Copied" },
          { name: "Gone on" },
          { name: "Size", numeric: true },
          { name: "Open", unseen: true },
        ]}
        rows={branches.map(({ branchRef, databaseSlug, purpose, copiedAt, expiresAt, sizeBytes, state }) => [
          <>
            <a href={`${at.base}/${encodeURIComponent(branchRef)}`}>{branchRef}</a>
            {state === "ok" ? null : (
              <>
                {" "}
                <Pill tone="bad" icon="alert">{state}</Pill>
              </>
            )}
          </>,
          visibleText(purpose),
          <Time at={copiedAt} />,
          <Time at={expiresAt} />,
          bytes(sizeBytes),
          <a
            class="quiet"
            href={`/console/${at.namespace}/db/${encodeURIComponent(databaseSlug)}/sql`}
            aria-label={`SQL in ${branchRef}`}
          >
            SQL
          </a>,
        ])}
      />
    </Card>
  );
}

/** Seconds and name of each. */
const lifetimes = [
  ["3600", "An hour"],
  ["86400", "A day"],
  ["604800", "A week"],
  ["2592000", "30 days"],
] as const;
const roles = [["read", "Read"], ["write", "Write rows"], ["admin", "Change the schema"]] as const;

function Claim({ visit, at, returned }: BranchesProps): Html {
  const field = fieldsOf(returned, "claim");
  const message = messageOf(returned, "claim");
  return (
    <Card id="claim" title="Claim a branch">
      <Form visit={visit} action={at.base} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field label="What for" {...field("purpose")} placeholder="Try new prices" maxLength={200} required />
        <Field
          label="Name"
          {...field("ref")}
          hint="Empty: it is made of what it is for. One that exists becomes a fresh copy"
          placeholder="pr-42"
          maxLength={64}
        />
        <Field label="Lives for" {...field("ttlSec", "86400")} choices={lifetimes} />
        <Field label="Its token may" {...field("role", "write")} choices={roles} />
        <Button kind="primary" icon="branch">Claim it</Button>
      </Form>
    </Card>
  );
}

function Nothing({ at: { namespace, path, baseUrl } }: BranchesProps): Html {
  const url = `${baseUrl}/v1/db/${namespace}/${path}/claim_branch`;
  return (
    <EmptyCard icon="branch" title="No branch yet">
      <p>
        A branch is a copy of the database for one purpose, with a token of its own. What it changes can be
        read row by row, and merged. An agent claims one like this:
      </p>
      <CopyLine
        label="the call"
        text={`curl -H "Authorization: Bearer $TOKEN" ${url} -d '{"purpose":"Try new prices"}'`}
      />
    </EmptyCard>
  );
}
