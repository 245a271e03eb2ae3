// Stage "authorise": compares the caller's role with the role that each statement needs, and refuses calls that do nothing
// or lose what they mean to keep.
import { AppError, invalidInput } from "../core/errors.ts";
import { roleAtLeast } from "../core/role.ts";
import { FormerNames } from "../sql/grammar/former_names.ts";
import { foldName } from "../sql/words/names.ts";
import type { StatementFacts } from "../sql/grammar/statement_facts.ts";
import { refused } from "./failure_error.ts";
import type { UnderstoodCall } from "./query_call.ts";

/**
 * Throws for the first statement that the caller's role may not run; of a batch the error names its index. Answers whether a
 * statement drops something. Errors: `statement_refused`, `role_too_low`, `validation_failed` for a call that would do nothing,
 * `migration_loses_rows`.
 */
export function authorise(understood: UnderstoodCall): boolean {
  authoriseFacts(understood);
  refuseInside(understood);
  refuseIdle(understood);
  const isDropping = drops(understood.facts);
  if (isDropping) refuseLosingRebuild(understood);
  return isDropping;
}

/** The same for statements that do not run. Errors: as `authorise`, but for what a call is as a whole. */
export function authoriseFacts({ call, facts }: Pick<UnderstoodCall, "call" | "facts">): void {
  const { target: { role }, batch } = call;
  for (const [index, one] of facts.entries()) {
    if (one === facts[index - 1]) continue;
    const extra = batch ? { failedIndex: index } : {};
    if (one.role === null) throw refused(one.refusal ?? "This statement", extra, call.statements[index]?.sql);
    if (!roleAtLeast(role, one.role)) {
      throw new AppError("role_too_low", {
        message: `Use a token with role ${one.role} for this statement; this one has ${role}`,
        extra,
      });
    }
  }
}

/** Refuses what SQLite would pass over without a word: inside a transaction, foreign keys stay as they are. */
function refuseInside({ call, facts }: UnderstoodCall): void {
  if (!call.inTransaction || !facts.some(({ pragma }) => pragma?.foreignKeysOff === true)) return;
  throw offForNothing(call, "a transaction is open");
}

/** Refuses a call that only switches foreign keys off: they are off for one call, and this one has no other statement. */
function refuseIdle({ call, facts, misunderstood }: UnderstoodCall): void {
  // The record of a file is what an empty one leaves.
  if (call.migration || call.migrations) return;
  const idle = misunderstood === null && facts.every(({ pragma }) => pragma?.foreignKeysOff === true);
  if (idle) throw offForNothing(call, "alone it does nothing");
}

function offForNothing({ batch }: UnderstoodCall["call"], why: string): AppError {
  return invalidInput(
    batch ? "statements" : "sql",
    `Send PRAGMA foreign_keys=OFF in one batch with the statements that it is for; ${why}`,
  );
}

/**
 * Refuses a batch that drops a table whose name a copy gets, before or after that, and lets foreign keys delete or change rows
 * of other tables by it. Files of migrations are compared by their rows (`calls/migration_watch.ts`).
 */
function refuseLosingRebuild({ call, facts }: UnderstoodCall): void {
  if (call.migration || call.migrations) return;
  if (facts.some(({ pragma }) => pragma?.foreignKeysOff === true)) return;
  /** Folded name → index of the last statement that gives it to another table. */
  const given = new Map<string, number>();
  for (const [index, { rename }] of facts.entries()) {
    if (rename?.column === null) given.set(foldName(rename.to), index);
  }
  const names = new FormerNames(call.formerNames);
  for (const [index, one] of facts.entries()) {
    names.follow(one);
    const { schemaRows, actions } = one;
    if (schemaRows?.rows?.side !== "before") continue;
    const { table } = schemaRows.rows;
    const dropped = foldName(table);
    const replaced = names.replaced(table);
    if (replaced === null && (given.get(dropped) ?? -1) < index) continue;
    const others = actions.flatMap((action) => /^(?:delete|update) (.*)$/s.exec(action)?.[1] ?? [])
      .filter((name) => foldName(name) !== dropped);
    if (others.length === 0) continue;
    const way = replaced === null
      ? "Begin the batch with PRAGMA foreign_keys=OFF"
      : `${copyFirst(replaced)}, in a batch that begins with PRAGMA foreign_keys=OFF`;
    throw new AppError("migration_loses_rows", {
      message: `${way}; DROP TABLE "${table}" would delete or change rows of ${
        [...new Set(others)].join(", ")
      }`,
      extra: { failedIndex: index },
    });
  }
}

/** With the old table put aside first, what refers to it would go on to refer to it. */
export function copyFirst(table: string): string {
  return `Fill a new table under another name, drop "${table}" and give the new one its name`;
}

/** Whether one of them drops something. The statements of a batch mostly have the same facts, which are looked at once. */
function drops(facts: UnderstoodCall["facts"]): boolean {
  let last: StatementFacts | null = null;
  for (const one of facts) {
    if (one !== last && one.verb === "drop") return true;
    last = one;
  }
  return false;
}
