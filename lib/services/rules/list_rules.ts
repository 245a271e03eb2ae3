// The approval rules of a database, in the order of their creation.
import type { Rules } from "../../control/rules.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";
import { type RuleView, ruleView } from "./rule_view.ts";

export interface RuleContext extends ManageContext {
  readonly rules: Rules;
}

/** Errors: those of `requireDatabase`. */
export async function listRules(ctx: RuleContext, address: DatabaseAddress): Promise<RuleView[]> {
  const database = await requireDatabase(ctx, address);
  const rules = await ctx.rules.list(database.id);
  return rules.map((rule) => ruleView(rule, rules));
}
