// What stands at the foot of a phone on the page of an approval: the way to its decision, or on to the next one.
import { counted } from "../../parts/figures.ts";
import type { Html } from "../../parts/html.ts";
import { visibleText } from "../../parts/visible_text.ts";
import type { DecisionProps } from "./approval_decision_view.tsx";
import { stateOf } from "./approval_words.ts";

/** What waits for the reader beside this. */
export interface Waiting {
  readonly count: number;
  /** Page of the newest. */
  readonly href: string;
}

/** What the bar shows. */
interface BarProps extends Pick<DecisionProps, "approval" | "decides"> {
  readonly waiting: Waiting | null;
}

/** Leads to it. */
export function NextWaiting({ waiting: { count, href }, kind }: { waiting: Waiting; kind?: string }): Html {
  return (
    <a class={kind} href={href}>{count === 1 ? "See the one that waits" : `Next of ${count} that wait`}</a>
  );
}

function whatOf({ affectedRows, merge }: BarProps["approval"]): string {
  if (affectedRows !== null) return counted(affectedRows, "row");
  return merge?.mode === "schema" ? "Definitions" : "Rows";
}

/** Nothing where nothing is to do. */
export function DecideBar({ approval, decides, waiting }: BarProps): Html | null {
  if (approval.state === "pending" && decides) {
    return (
      <div class="decide-bar">
        <span>
          <b>{whatOf(approval)}</b> of {visibleText(approval.hits[0]?.table ?? approval.database)}
        </span>
        <a class="button primary" href="#decide">Decide</a>
      </div>
    );
  }
  if (waiting !== null) {
    return (
      <div class="decide-bar">
        <span>{stateOf(approval, decides).words}</span>
        <NextWaiting waiting={waiting} kind="button primary" />
      </div>
    );
  }
  if (approval.outcome?.kind !== "ran") return null;
  return (
    <div class="decide-bar">
      <span>{stateOf(approval, decides).words}</span>
      <a class="button" href="#decide">What became of it</a>
    </div>
  );
}
