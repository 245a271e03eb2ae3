// The page of one approval: the sentence in its title, its effect, and beside it the decision.
import type { AskerFacts } from "../../../../lib/services/approvals/describe_asker.ts";
import type { ApprovalPage, HoldingRule } from "../../../../lib/services/approvals/read_approvals.ts";
import { Card } from "../../parts/card.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { counted, whole } from "../../parts/figures.ts";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { PageRoom } from "../../parts/page_room.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Quote } from "../../parts/quote.tsx";
import { Steps } from "../../parts/steps.tsx";
import { Tiles } from "../../parts/tiles.tsx";
import { Time } from "../../parts/time.tsx";
import { Form } from "../../parts/form.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { Changes } from "./approval_changes_view.tsx";
import { DecideBar, NextWaiting, type Waiting } from "./approval_bar_view.tsx";
import { Decision, type DecisionProps } from "./approval_decision_view.tsx";
import { askerOf, isUnseen, ruleWords, sentenceOf, stateOf } from "./approval_words.ts";

/** What the page shows. */
export interface ApprovalProps extends DecisionProps {
  readonly namespace: string;
  readonly asker: AskerFacts;
  readonly all: boolean;
  readonly allRows: boolean;
  /** Polls for what others decide; absent where nothing can change any more. */
  readonly poll: string | null;
  /** What else waits for the reader, once this is decided; null for nothing. */
  readonly waiting: Waiting | null;
}

/** The page. */
export function Approval(props: ApprovalProps): Html {
  const { visit, approval, namespace, path, all, allRows, decides, poll } = props;
  const isOpen = approval.state === "pending" && decides;
  const room = new PageRoom(`/api/namespaces/${namespace}/approvals/${encodeURIComponent(approval.id)}`);
  return (
    <>
      <Crumbs path={[["Approvals", `/console/${namespace}/approvals`]]} here={<code>{approval.id}</code>} />
      <h1>{sentenceOf(approval)}</h1>
      <Facts {...props} />
      {isOpen ? <Form visit={visit} action={`${path}/look`} id="look" /> : null}
      {poll === null ? null : <span hx-get={poll} hx-trigger="every 3s" hx-swap="none" />}
      <div class="review">
        <div class="stack">
          <CameBack approval={approval} />
          <Effect approval={approval} />
          <Changes
            approval={approval}
            room={room}
            all={all}
            allRows={allRows}
            path={path}
            decides={decides}
          />
        </div>
        <aside class="decision" id="decide" aria-label="Decision">
          <Decision {...props} />
          <Why {...props} />
          <Asker {...props} />
          {approval.state === "pending" || approval.state === "approved"
            ? <Next approval={approval} />
            : null}
        </aside>
      </div>
      <DecideBar {...props} />
    </>
  );
}

function Facts({ approval, decides, waiting }: ApprovalProps): Html {
  const { words, tone, icon } = stateOf(approval, decides);
  const isOpen = approval.state === "pending" || approval.state === "approved";
  return (
    <p class="facts">
      <Pill tone={tone} icon={icon}>{words}</Pill>
      <span>
        <Icon name="database" size={14} />
        {`${approval.database}, branch ${approval.branchRef}`}
      </span>
      <span>
        <Icon name="clock" size={14} />
        <span>
          Asked <Time at={approval.askedAt} />
        </span>
      </span>
      {isOpen
        ? (
          <span>
            <span>
              Expires <Time at={approval.expiresAt} />
            </span>
          </span>
        )
        : null}
      {waiting === null ? null : <NextWaiting waiting={waiting} />}
    </p>
  );
}

function CameBack({ approval: { outcome, state } }: { approval: ApprovalPage }): Html | null {
  if (state !== "pending" || outcome?.kind !== "came_back") return null;
  const { approvedRows, affectedRows, at } = outcome;
  const figures = approvedRows === null || affectedRows === null
    ? "It would have done something else than was approved"
    : approvedRows === affectedRows
    ? `It would have changed ${counted(affectedRows, "row")} as approved, but not the same ones`
    : `${counted(approvedRows, "row")} ${approvedRows === 1 ? "was" : "were"} approved, ${
      whole(affectedRows)
    } would have changed`;
  return (
    <Notice tone="warn">
      {figures}, so nothing was kept and it waits again.{" "}
      <small>
        It came back <Time at={at} />. Read again what it would do now.
      </small>
    </Notice>
  );
}

function Effect({ approval }: { approval: ApprovalPage }): Html {
  const { affected, cascaded, rowsRead } = approval.effect;
  const rows = (count: number | null) => count === null ? "not known" : counted(count, "row");
  const tables = [...new Set(approval.hits.map(({ table }) => visibleText(table)))];
  const schema = approval.merge?.mode === "schema" ||
    approval.effects.some(({ ownRows }) => ownRows === null);
  const unseen = isUnseen(approval);
  return (
    <Tiles
      label="Effect"
      tiles={[
        {
          name: "Changed",
          value: schema ? "definition" : rows(affected),
          about: tables.length === 1 ? `of ${tables[0]}` : counted(tables.length, "table"),
        },
        {
          name: "Cascaded",
          value: rows(cascaded),
          about: cascaded === 0 ? "no trigger, no key" : "by triggers and keys",
          warn: (cascaded ?? 0) > 0,
        },
        { name: "Read", value: rows(unseen ? null : rowsRead), about: "to find them" },
        {
          name: "May drift by",
          value: unseen ? "any number" : counted(approval.tolerance, "row"),
          about: unseen ? "there is nothing to compare" : "else you decide again",
          warn: unseen,
        },
      ]}
    />
  );
}

function Why({ approval, namespace }: ApprovalProps): Html {
  const href = `/console/${namespace}/db/${approval.database}/rules`;
  return (
    <Card id="rule" title="Why it waits" end={<a href={href}>See rules</a>}>
      <div class="stack">
        {approval.rules.map((rule) => <Rule rule={rule} />)}
        {approval.rules.length > 0 ? null : <p>The rule that held it has been deleted since.</p>}
      </div>
    </Card>
  );
}

function Rule({ rule }: { rule: HoldingRule }): Html {
  const { before, tables, behind } = ruleWords(rule);
  return (
    <>
      <p>
        {before}
        <code>{tables}</code>
        {behind}
      </p>
      {rule.note === null ? null : <Quote>{visibleText(rule.note)}</Quote>}
    </>
  );
}

function Asker({ approval, asker, namespace }: ApprovalProps): Html {
  const { role, createdAt, asked, approved, denied } = asker;
  const isToken = approval.tokenId.startsWith("tok_");
  const may = !isToken
    ? "a person, by the console"
    : role === null
    ? "is revoked, so it cannot run this any more"
    : `may ${mayDo[role]} ${approval.databaseSlug}`;
  return (
    <Card
      id="asker"
      title="Who asks"
      end={isToken ? <a href={`/console/${namespace}/tokens`}>See tokens</a> : undefined}
      foot={`Asked ${counted(asked, "time")} in two days: ${whole(approved)} approved, ${
        whole(denied)
      } denied`}
    >
      <Person
        agent={isToken}
        name={askerOf(approval)}
        about={
          <>
            {may}
            {createdAt === null ? null : (
              <>
                ; made <Time at={createdAt} />
              </>
            )}
          </>
        }
      />
    </Card>
  );
}

const mayDo = { read: "read", write: "write to", admin: "manage" } as const;

function Next({ approval }: { approval: ApprovalPage }): Html {
  const rows = approval.affectedRows === null ? "what you see" : counted(approval.affectedRows, "row");
  return (
    <Card id="next" title="What happens next">
      <Steps
        steps={[
          [
            `${askerOf(approval)} runs it,`,
            <>
              this only and only once, until <Time at={approval.expiresAt} />.
            </>,
          ],
          isUnseen(approval)
            ? ["Nothing is counted again.", "It may change any number of rows: nobody has seen which."]
            : [
              "The effect is counted again.",
              `If it is not ${rows} by then, nothing is kept and you are asked anew.`,
            ],
          ["You see the outcome here,", "with the log entry and the undo."],
        ]}
      />
    </Card>
  );
}
