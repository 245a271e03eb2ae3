// The inbox: what waits first, each as a sentence that leads to its page.
import type { ApprovalSummary } from "../../../../lib/services/approvals/approval_view.ts";
import { Card } from "../../parts/card.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { counted } from "../../parts/figures.ts";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { PageHead } from "../../parts/page_head.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Segments } from "../../parts/segments.tsx";
import { Time } from "../../parts/time.tsx";
import { sentenceOf, stateOf } from "./approval_words.ts";

/** What can be chosen. */
export const inboxStates = ["pending", "approved", "redeemed", "denied", "expired", "all"] as const;

/** One of them. */
export type InboxState = (typeof inboxStates)[number];

const names: Readonly<Record<InboxState, string>> = {
  pending: "Waiting",
  approved: "Approved",
  redeemed: "Redeemed",
  denied: "Denied",
  expired: "Expired",
  all: "All",
};

/** What the page shows. */
export interface ApprovalsProps {
  readonly namespace: string;
  readonly baseUrl: string;
  readonly decides: boolean;
  readonly shown: readonly ApprovalSummary[];
  readonly counts: Readonly<Record<InboxState, number>>;
  readonly state: InboxState;
  /** Number of the next page. */
  readonly next: number | null;
  /** Where a script asks whether something has changed. */
  readonly ask: string;
  /** Without script the page loads itself anew. */
  readonly reloads: boolean;
}

/** The page. */
export function Approvals(props: ApprovalsProps): Html {
  const { namespace, counts, state, shown, ask } = props;
  const base = `/console/${namespace}/approvals`;
  return (
    <>
      <PageHead
        title="Approvals"
        about="Writes that a rule holds until a person has seen what they would do. They are kept for two days."
        end={state === "pending" ? <Notify /> : undefined}
      />
      <div class="stack" data-inbox={namespace} data-ask={ask}>
        <Renewal {...props} />
        <Segments
          label="State"
          segments={inboxStates.map((one) => ({
            name: counts[one] === 0 ? names[one] : `${names[one]} ${counts[one]}`,
            href: one === "pending" ? base : `${base}?state=${one}`,
            current: one === state,
          }))}
        />
        {shown.length === 0 ? <Nothing {...props} /> : <List {...props} />}
      </div>
    </>
  );
}

/** Asks the browser to tell of what comes, while the inbox is open. Hidden where there is no script to serve it. */
function Notify(): Html {
  return (
    <>
      <span class="note" role="status" data-notify-words=""></span>
      <button class="button small" type="button" data-notify="" hidden>
        <Icon name="bell" size={14} />
        <span>Notify me</span>
      </button>
    </>
  );
}

/** Nobody's page is loaded anew without being asked: whoever reads it slowly would lose the place. */
function Renewal({ namespace, state, reloads }: ApprovalsProps): Html {
  const chosen = `/console/${namespace}/approvals?state=${state}`;
  return (
    <noscript>
      <p class="note">
        {reloads
          ? (
            <>
              Without script this page loads itself anew every minute. <a href={chosen}>Stop that</a>
            </>
          )
          : (
            <>
              Without script this page shows what comes when it is loaded again.{" "}
              <a href={`${chosen}&reload`}>Load it every minute</a>
            </>
          )}
      </p>
    </noscript>
  );
}

function List({ namespace, decides, shown, state, next }: ApprovalsProps): Html {
  const base = `/console/${namespace}/approvals`;
  return (
    <Card
      id="list"
      title={state === "pending" ? "Waiting for a person" : names[state]}
      about={counted(shown.length, "approval")}
      full
      foot={next === null ? undefined : <a href={`${base}?state=${state}&page=${next}`}>Older ones</a>}
    >
      <Grid
        label="Approvals"
        columns={[
          { name: "Who asks what" },
          { name: "State" },
          { name: "Database" },
          { name: "Asked" },
          { name: state === "pending" || state === "approved" ? "Expires" : "Decided" },
        ]}
        rows={shown.map((one) => {
          const { words, tone, icon } = stateOf(one, decides);
          return [
            <a
              class="sentence"
              href={`${base}/${one.id}`}
              data-waiting={one.state === "pending" ? one.id : undefined}
            >
              {sentenceOf(one)}
            </a>,
            <Pill tone={tone} icon={icon}>{words}</Pill>,
            one.databaseSlug,
            <Time at={one.askedAt} />,
            state === "pending" || state === "approved"
              ? <Time at={one.expiresAt} />
              : one.decidedAt === null
              ? ""
              : <Time at={one.decidedAt} />,
          ];
        })}
      />
    </Card>
  );
}

function Nothing({ namespace, baseUrl, state, counts }: ApprovalsProps): Html {
  if (state !== "pending" || counts.all > 0) {
    return (
      <EmptyCard icon="approvals" title={state === "pending" ? "Nothing waits" : "Nothing here"}>
        <p>
          {state === "pending"
            ? "Everything has been decided. What comes next shows up here by itself."
            : "No approval of the last two days is in this state."}
        </p>
      </EmptyCard>
    );
  }
  const rules = `${baseUrl}/api/namespaces/${namespace}/databases/$DATABASE/rules`;
  const rule = `{"tableGlob":"*","actions":["delete"],"effect":"require_approval","minRows":10}`;
  return (
    <EmptyCard icon="approvals" title="Nothing has waited yet">
      <p>
        A rule decides which writes wait for a person. This one holds whatever would delete ten rows or more:
      </p>
      <CopyLine label="the command" text={`curl -H "Authorization: Bearer $TOKEN" ${rules} -d '${rule}'`} />
    </EmptyCard>
  );
}
