// What a text would cost, what rules say of it and who may run it, before it runs.
import { outcomeOf } from "../../core/outcome_of.ts";
import { higherRole, type Role } from "../../core/role.ts";
import { withHint } from "../../sql/hints/sql_error.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { validateStatement, type Validation } from "../schema/validate_statement.ts";
import type { TextStatement } from "./text_context.ts";

/** What is known of the text. */
export interface TextCheck {
  /** What keeps the first statement that cannot run from it; null where nothing is known to. */
  readonly problem: string | null;
  /** The least role that may run all of it; null where nothing was understood. */
  readonly role: Role | null;
  /** Rows that it reads, about, and what that costs; null where it is not known of each statement. */
  readonly rowsRead: number | null;
  readonly costUsd: number | null;
  /** Tables that it reads whole. */
  readonly fullScans: readonly string[];
  /** What a rule says: that it is refused, has to be approved, or that it depends on the number of rows. */
  readonly rule: "deny" | "require_approval" | "rows" | null;
}

/** Statements that are checked: who writes more does not wait for it. */
const MOST_CHECKED = 10;

/**
 * Checks the first statements, up to one that cannot run or changes the schema: what follows is about another schema.
 * Free. Never throws an `AppError`.
 */
export async function checkText(
  ctx: StatementsContext,
  statements: readonly TextStatement[],
): Promise<TextCheck> {
  let sum: TextCheck = { problem: null, role: null, rowsRead: 0, costUsd: 0, fullScans: [], rule: null };
  for (const { sql } of statements.slice(0, MOST_CHECKED)) {
    const outcome = await outcomeOf(() => validateStatement(ctx, { sql, free: true }));
    if (!outcome.ok) return { ...sum, ...UNKNOWN, problem: outcome.error.message };
    const one = outcome.value;
    if (!one.ok) return { ...sum, ...UNKNOWN, problem: problemOf(one) };
    sum = {
      problem: null,
      role: one.role === null ? sum.role : sum.role === null ? one.role : higherRole(sum.role, one.role),
      rowsRead: added(sum.rowsRead, one.rowsRead),
      costUsd: added(sum.costUsd, one.costUsd),
      fullScans: [...new Set([...sum.fullScans, ...one.fullScans])],
      rule: stricter(sum.rule, one.rule),
    };
    if (one.class === "schema") return { ...sum, ...UNKNOWN };
  }
  return statements.length > MOST_CHECKED ? { ...sum, ...UNKNOWN } : sum;
}

/** The engine's message, and what to do about it where more is known. */
function problemOf({ error = "It cannot run", errorDetail }: Validation): string {
  return withHint(error, errorDetail?.hint);
}

const UNKNOWN = { rowsRead: null, costUsd: null } as const;

function added(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function stricter(one: TextCheck["rule"], other: TextCheck["rule"]): TextCheck["rule"] {
  return (["deny", "require_approval", "rows"] as const).find((rule) => rule === one || rule === other) ??
    null;
}
