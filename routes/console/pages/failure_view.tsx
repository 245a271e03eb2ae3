// What a page says of a failure: what it is, what to do, and a way on.
import { namespaceOf } from "../frame/own_path.ts";
import { Button } from "../parts/button.tsx";
import type { Html } from "../parts/html.ts";
import { type SendAgainProps, SendForm } from "./account/send_again.tsx";

const UNAVAILABLE = "Not available at the moment";
const titles: Readonly<Record<number, string>> = {
  402: "The balance is used up",
  403: "You may not do that",
  404: "There is nothing here",
  405: "There is nothing here",
  409: "Something has changed",
  413: "That is too much at once",
  421: "Not under this address",
  429: "Too many attempts",
  503: UNAVAILABLE,
};

/** The title of a failure of which no more is known than its status. */
export function titleOf(status: number): string {
  return titles[status] ?? "That did not work";
}

/** What has failed. */
export interface FailureFacts {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly issues: readonly string[];
  /** Set where a part of the service is not there at the moment: the page from which the same can be asked again. */
  readonly passing: { readonly back: string } | null;
}

/** A failure that another page mends, or does without. */
interface WayOut {
  readonly title: string;
  /** In the place of words that name calls of the API. */
  readonly message?: string;
  /** The last one is what the page is for. */
  readonly links: readonly (readonly [label: string, href: string])[];
}

/** Null where no page is known that would help. */
export function wayOut(code: string, here: string): WayOut | null {
  const [database] = /^\/console\/[a-z][^/?]*\/db\/[^/?]+/.exec(here) ?? [];
  const namespace = namespaceOf(here);
  if (code === "database_corrupt" && database !== undefined) {
    return {
      title: "This database is damaged",
      message:
        "Its file is damaged or missing, so nothing of it can be read or written. Restore a snapshot, or a moment of " +
        "the archive where this service has one: neither needs the file.",
      links: [["Archive", `${database}/archive`], ["Snapshots", `${database}/snapshots`]],
    };
  }
  if (code === "monthly_cap_reached" && namespace !== "") {
    return { title: "The monthly cap is reached", links: [["Settings", `/console/${namespace}/settings`]] };
  }
  return null;
}

/** What is not there now may be there in a moment. */
export function later(back: string): WayOut {
  return { title: UNAVAILABLE, links: [["Try again", back]] };
}

/** The page. */
export function Failure(
  props: FailureFacts & Partial<WayOut> & {
    readonly title: string;
    readonly requestId: string;
    readonly again: SendAgainProps | null;
  },
): Html {
  const { title, message, issues, requestId, again, links = [["To the console", "/console"]] } = props;
  return (
    <div class="card narrow">
      <div class="body form">
        <h1>{title}</h1>
        <p>{message}</p>
        {issues.length === 0 ? null : <ul>{issues.map((issue) => <li>{issue}</li>)}</ul>}
        <p class="note">
          Request <code>{requestId}</code>
        </p>
        {again !== null ? <SendForm {...again} label="Send it again" /> : (
          <div class="end">
            {links.map(([label, href], at) => (
              <Button href={href} kind={at > 0 ? "primary" : "plain"}>{label}</Button>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}
