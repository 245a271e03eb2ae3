// When a look at a held write was taken, and the button that looks again.
import type { ApprovalPage } from "../../../../lib/services/approvals/read_approvals.ts";
import type { Html } from "../../parts/html.ts";
import type { PageRoom } from "../../parts/page_room.tsx";
import { Time } from "../../parts/time.tsx";

/** What is shown, and how. */
export interface ChangesProps {
  readonly approval: ApprovalPage;
  readonly room: PageRoom;
  /** All columns instead of those that change. */
  readonly all: boolean;
  /** Every row that is known instead of the first few. */
  readonly allRows: boolean;
  /** Path of this page. */
  readonly path: string;
  /** Whether the reader may look again. */
  readonly decides: boolean;
}

/** For the foot of a card. */
export function Seen({ approval, decides }: ChangesProps): Html {
  return (
    <>
      Seen by running it and rolling it back, <Time at={approval.lookedAt} />.
      {approval.state === "pending" && decides
        ? (
          <>
            {" "}
            <button class="link-button" type="submit" form="look">Look again now</button>
          </>
        )
        : null}
    </>
  );
}
