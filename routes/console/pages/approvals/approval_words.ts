// Approvals in words: who asks what, in which state it is, and why it waits.
import type { ApprovalSummary } from "../../../../lib/services/approvals/approval_view.ts";
import type { ApprovalPage, HoldingRule } from "../../../../lib/services/approvals/read_approvals.ts";
import type { RuleAction, RuleHit } from "../../../../lib/store/write_records.ts";
import { counted, whole } from "../../parts/figures.ts";
import type { IconName } from "../../parts/icon.tsx";
import type { Tone } from "../../parts/pill.tsx";
import { visibleText } from "../../parts/visible_text.ts";

const verbs: Readonly<Record<RuleAction, string>> = {
  // An INSERT may overwrite rows that are there: an upsert does, and REPLACE.
  insert: "write",
  update: "change",
  delete: "delete",
  schema: "change",
};

/** Who asks, by the name that the token has. */
export function askerOf({ tokenName }: Pick<ApprovalSummary, "tokenName">): string {
  return tokenName === null ? "A revoked token" : visibleText(tokenName);
}

/** Who asks what of how many rows of which table. */
export function sentenceOf(approval: ApprovalSummary): string {
  const { affectedRows, cascadedRows } = approval;
  const rows = affectedRows === null ? null : affectedRows - (cascadedRows ?? 0);
  const who = askerOf(approval);
  const database = approval.databaseSlug;
  const many = rows === null ? "" : ` (${counted(rows, "row")})`;
  if (approval.operation === "merge") return `${who} asks to merge a branch into ${database}${many}`;
  if (approval.operation === "restore") return `${who} asks to restore ${database} to a snapshot${many}`;
  if (approval.operation === "migrate") return `${who} asks to apply migrations to ${database}${many}`;
  const { verb, tables, isSchema } = touched(approval.hits);
  if (isSchema) return `${who} asks to change the definition of ${tables}${many}`;
  const more = rows === null || cascadedRows === 0
    ? ""
    : cascadedRows === null
    ? ", triggers and keys counted in"
    : `, and ${whole(cascadedRows)} more`;
  return `${who} asks to ${verb} ${rows === null ? "rows" : counted(rows, "row")} of ${tables}${more}`;
}

/** Whether nobody knows what it would change: approved, it runs as it is, whatever number of rows that is. */
export function isUnseen(
  { effects, merge, restore, migrations }: Pick<ApprovalPage, "effects" | "merge" | "restore" | "migrations">,
): boolean {
  return effects.length === 0 && merge === null && restore === null && migrations === null;
}

/** What the button of an approval says. */
export function approveLabel(rows: number | null): string {
  return rows === null ? "Approve" : `Approve ${counted(rows, "row")}`;
}

function touched(hits: readonly RuleHit[]): { verb: string; tables: string; isSchema: boolean } {
  const [first] = hits;
  const names = [...new Set(hits.map(({ table }) => table))];
  const more = names.length - 1;
  const others = more === 0 ? "" : more === 1 ? " and another table" : ` and ${more} other tables`;
  const actions = new Set(hits.map(({ action }) => action));
  const action = first?.action ?? "update";
  return {
    verb: actions.size === 1 ? verbs[action] : "change",
    tables: `${visibleText(first?.table ?? "a table")}${others}`,
    isSchema: action === "schema",
  };
}

/** A state as a pill. */
export interface StateWords {
  readonly words: string;
  readonly tone: Tone;
  readonly icon: IconName;
}

/** `decides`: whether the reader may. */
export function stateOf(
  { state, outcome }: Pick<ApprovalSummary, "state" | "outcome">,
  decides: boolean,
): StateWords {
  if (state === "pending") {
    const waits = decides ? "Waiting for you" : "Waiting for an admin";
    return outcome?.kind === "came_back"
      ? { words: "Came back", tone: "warn", icon: "alert" }
      : { words: waits, tone: "warn", icon: "stopwatch" };
  }
  if (state === "approved") return { words: "Approved", tone: "good", icon: "check" };
  if (state === "denied") return { words: "Denied", tone: "bad", icon: "cross" };
  if (state === "expired") return { words: "Expired", tone: "plain", icon: "clock" };
  if (outcome?.kind === "failed") return { words: "Failed", tone: "bad", icon: "alert" };
  if (outcome?.undone) return { words: "Taken back", tone: "plain", icon: "undo" };
  // The outcome was lost, by a kill or a failure of KV, so that nobody knows whether the write has run.
  if (outcome === null) return { words: "Redeemed", tone: "plain", icon: "check" };
  return { words: "Ran", tone: "good", icon: "check" };
}

const plurals: Readonly<Record<RuleAction, string>> = {
  insert: "Inserts",
  update: "Updates",
  delete: "Deletes",
  schema: "Changes of the definition",
};

/** What a rule is about, before and behind the name of the tables. */
export function ruleWords(rule: HoldingRule): { before: string; tables: string; behind: string } {
  const { actions, minRows, unboundedOnly, tableGlob } = rule;
  const kinds = actions === null ? "All writes" : listed(actions.map((action) => plurals[action]));
  const bounds = [
    unboundedOnly ? "without a WHERE that tells rows apart" : "",
    minRows === null ? "" : `that change ${counted(minRows, "row")} or more`,
  ].filter((one) => one !== "").join(" and ");
  const matches = /[*?]/.test(tableGlob) ? " of tables like " : " of ";
  return {
    before: kinds + matches,
    tables: visibleText(tableGlob),
    behind: bounds === "" ? " need an admin." : ` ${bounds} need an admin.`,
  };
}

function listed(words: readonly string[]): string {
  const [first = "", ...more] = words;
  return [first, ...more.map((word) => word.toLowerCase())].join(", ").replace(/, ([^,]*)$/, " and $1");
}
