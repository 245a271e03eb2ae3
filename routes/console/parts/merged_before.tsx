// What whoever merges rows of a branch once more has to know.
import type { MergeReport } from "../../../lib/sql/service/branch_report.ts";
import type { Html } from "./html.ts";
import { Notice } from "./notice.tsx";
import { Time } from "./time.tsx";

/** Nothing where the branch was not merged before. */
export function MergedBefore({ report: { mergedBefore } }: { report: MergeReport }): Html | null {
  if (mergedBefore === undefined) return null;
  return (
    <Notice tone="warn">
      Rows of this branch were merged before, at{" "}
      <Time at={mergedBefore} />. What the trunk has deleted of them since comes in again.
    </Notice>
  );
}
