// The line that says what a text would cost, before it runs.
import type { TextCheck } from "../../../../lib/services/editor/check_text.ts";
import { counted, usd } from "../../parts/figures.ts";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { visibleText } from "../../parts/visible_text.ts";

/** To read a whole table costs something from here on; below it a warning would only teach to overlook warnings. */
const MANY_ROWS = 1000;

/** It asks again whenever the editor says that something was typed. `check` null: there is no text. */
export function Cost({ check, base }: { check: TextCheck | null; base: string }): Html {
  const full = check !== null && check.problem === null && check.fullScans.length > 0 &&
    (check.rowsRead ?? MANY_ROWS) >= MANY_ROWS;
  const warned = check !== null && (full || check.problem !== null || check.rule !== null);
  return (
    <span
      id="cost"
      class={warned ? "note cost warn" : "note cost"}
      role="status"
      hx-post={`${base}/sql/check`}
      hx-trigger="sql:typed from:#sql-form"
      hx-include="#sql-form"
      hx-target="this"
      hx-swap="outerHTML"
      hx-sync="this:replace"
    >
      {check === null ? null : (
        <>
          <Icon name={warned ? "alert" : "zap"} size={14} />
          <span>{visibleText(costText(check))}</span>
        </>
      )}
    </span>
  );
}

function costText({ problem, rowsRead, costUsd, fullScans, rule, role }: TextCheck): string {
  if (problem !== null) return problem;
  if (rule === "deny") return "A rule forbids this write";
  const parts: string[] = [];
  if (rowsRead !== null && costUsd !== null) {
    const how = fullScans.length === 0 ? "" : `, all of ${listed(fullScans)}`;
    parts.push(`Reads about ${counted(rowsRead, "row")}${how}, ${usd(costUsd)}`);
  } else if (role === "admin") parts.push("Changes the schema");
  if (rule === "require_approval") parts.push("a person has to approve it");
  if (rule === "rows") parts.push("with many rows a person has to approve it");
  return parts.join("; ");
}

function listed(names: readonly string[]): string {
  return names.length <= 2 ? names.join(" and ") : `${names[0]} and ${names.length - 1} more`;
}
