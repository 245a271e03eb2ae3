// The decision about a held write: the form for whoever may decide, and what became of it for everybody.
import { FRESH_MS } from "../../../../lib/access/caller.ts";
import { errorTable } from "../../../../lib/core/error_table.ts";
import type { OutcomeView } from "../../../../lib/services/approvals/approval_view.ts";
import type { ApprovalPage } from "../../../../lib/services/approvals/read_approvals.ts";
import { MAX_REASON_LENGTH } from "../../../http/schemas.ts";
import type { Visit } from "../../../http/visit.ts";
import type { Problem } from "../../frame/attempt.ts";
import type { FormFields } from "../../frame/read_form.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Check } from "../../parts/check.tsx";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Quote } from "../../parts/quote.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { approveLabel, askerOf, stateOf } from "./approval_words.ts";

/** A decision that did not pass, and what was typed. */
export interface ReturnedDecision {
  readonly fields: FormFields;
  readonly problem: Problem;
}

/** What the panel shows. */
export interface DecisionProps {
  readonly visit: Visit;
  readonly approval: ApprovalPage;
  /** Path of this page. */
  readonly path: string;
  /** Whether the reader may decide. */
  readonly decides: boolean;
  readonly returned: ReturnedDecision | null;
}

/** The panel. */
export function Decision(props: DecisionProps): Html {
  const { approval, decides, returned } = props;
  if (approval.state === "pending" && decides) return <Decide {...props} />;
  const { words, tone, icon } = stateOf(approval, decides);
  // Whoever was slower has to hear that what follows is not their own decision.
  const late = returned?.problem.message ?? "";
  return (
    <Card id="decision" title={approval.state === "pending" ? "The decision" : "What became of it"}>
      <div class="stack">
        {late === "" ? null : <Notice tone="bad">{late}</Notice>}
        <p>
          <Pill tone={tone} icon={icon}>{words}</Pill>
        </p>
        <Became {...props} />
      </div>
    </Card>
  );
}

function Decide({ visit, approval, path, returned }: DecisionProps): Html {
  const { person } = visit;
  const isReport = approval.merge !== null || approval.restore !== null;
  const isFresh = signedInFor(visit) < FRESH_MS;
  const { message: whole = "", fields = {} } = returned?.problem ?? {};
  // What is wrong with a part that nobody typed stands at the head.
  const message = whole || fields["decision"] || fields["look"] || "";
  return (
    <Card id="decision" title="Your decision" end={<SignedIn visit={visit} />}>
      <Form visit={visit} action={`${path}/decide`} kind="stack" hidden={{ look: String(approval.look) }}>
        {/* What Enter in a field sends: nobody decides by a key that was meant for something else. */}
        <button class="unseen" type="submit" name="decision" value="" tabindex={-1} aria-hidden="true" />
        {message === "" ? null : <Notice tone="bad">{message}</Notice>}
        <Person
          name={person?.name ?? ""}
          about={person?.caller.kind === "member"
            ? `${person.caller.role} of ${person.caller.namespaceSlug}`
            : person?.detail}
        />
        {isReport
          ? <p class="note">A snapshot is taken first. One click brings the rows back for 7 days.</p>
          : (
            <Check
              label="Take a snapshot first"
              hint="One click brings the rows back for 7 days"
              name="snapshot"
              checked={returned === null || returned.fields.has("snapshot")}
            />
          )}
        {isFresh
          ? null
          : <p class="note">You will be asked to confirm that it is you. What you type here is kept.</p>}
        <Button kind="approve" icon="check" wide name="decision" value="approve">
          {approveLabel(approval.affectedRows)}
        </Button>
        <div class="rule-line" />
        <Field
          label="Reason for a denial"
          name="reason"
          type="textarea"
          placeholder="The agent gets to read this"
          value={returned?.fields.exact("reason") ?? ""}
          problem={fields["reason"]}
          maxLength={MAX_REASON_LENGTH}
        />
        <Button kind="deny" wide name="decision" value="deny">Deny</Button>
      </Form>
    </Card>
  );
}

/** Milliseconds since the reader has proved who it is. */
function signedInFor({ person, now }: Visit): number {
  if (person === null) return Infinity;
  const { caller } = person;
  return now - (caller.kind === "member" ? caller.signedInAt : caller.session?.signedInAt ?? now);
}

function SignedIn({ visit }: { visit: Visit }): Html {
  const minutes = Math.floor(signedInFor(visit) / 60_000);
  const isFresh = minutes * 60_000 < FRESH_MS;
  return (
    <Pill tone={isFresh ? "good" : "warn"} icon="shield">
      {minutes === 0 ? "Signed in just now" : `Signed in ${minutes} min ago`}
    </Pill>
  );
}

function Became(props: DecisionProps): Html {
  const { approval } = props;
  const { state, decidedAt, decidedByName, reason, expiresAt } = approval;
  const who = decidedByName === null ? "A rule" : visibleText(decidedByName);
  if (state === "pending") {
    return (
      <p>
        An admin of the namespace decides, until <Time at={expiresAt} />. You may read.
      </p>
    );
  }
  if (state === "expired") {
    return (
      <p>
        Nobody ran it until <Time at={expiresAt} />. Whoever asked can ask again.
      </p>
    );
  }
  const decided = (
    <p>
      {state === "denied" ? "Denied" : "Approved"} by <b>{who}</b>
      {decidedAt === null ? null : (
        <>
          , <Time at={decidedAt} />
        </>
      )}.
    </p>
  );
  return (
    <>
      {decided}
      {reason === null ? null : <Quote>{visibleText(reason)}</Quote>}
      {state === "approved" ? <Waits approval={approval} /> : null}
      {state === "redeemed" ? <Outcome {...props} outcome={approval.outcome} /> : null}
    </>
  );
}

function Waits({ approval }: { approval: ApprovalPage }): Html {
  return (
    <p class="note">
      {askerOf(approval)} may run it once, until <Time at={approval.expiresAt} />.
      {approval.snapshotFirst ? " A snapshot is taken first." : ""} This page shows what became of it.
    </p>
  );
}

function Outcome(
  { visit, path, decides, approval, outcome }: DecisionProps & { outcome: OutcomeView | null },
) {
  if (outcome === null) {
    return (
      <p class="note">
        It has been redeemed, but what became of it was not noted. If it has run, the query log has a row of
        it.
      </p>
    );
  }
  if (outcome.kind === "failed") {
    return (
      <Notice tone="bad">
        The engine refused it: {errorMessage(outcome.code)}. <small>{outcome.code}</small>
      </Notice>
    );
  }
  if (outcome.kind === "came_back") return null;
  const { at, rowsWritten, queryLogId, snapshot, undone } = outcome;
  return (
    <>
      <p>
        {askerOf(approval)} ran it, <Time at={at} />
        {rowsWritten === null ? "" : `: ${counted(rowsWritten, "row")} written`}.
      </p>
      {queryLogId === null ? null : (
        <p class="note">
          Log entry <a href={`${logPath(path, approval)}?id=${queryLogId}`}>{queryLogId}</a>
        </p>
      )}
      {undone
        ? (
          <Notice>
            Taken back by {visibleText(undone.byName)}, <Time at={undone.at} />.
            {undone.snapshot === null ? null : (
              <small>
                The state before that is the snapshot <code>{undone.snapshot}</code>
              </small>
            )}
          </Notice>
        )
        : snapshot === null
        ? <p class="note">No snapshot was taken before it, so it has no undo of its own.</p>
        : decides
        ? (
          <Form visit={visit} action={`${path}/undo`} method="get">
            <Button icon="undo" wide>Take it back …</Button>
          </Form>
        )
        : <p class="note">An admin of the namespace can take it back.</p>}
    </>
  );
}

/** The log of the approval's database: of its namespace, as the path of this page has it. */
function logPath(path: string, { databaseSlug }: ApprovalPage): string {
  return `${path.split("/approvals/", 1)[0]}/db/${databaseSlug}/log`;
}

function errorMessage(code: string): string {
  const row = Object.entries(errorTable).find(([name]) => name === code)?.[1];
  return row?.message ?? "it failed";
}
