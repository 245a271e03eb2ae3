// Takes an approval rule away.
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/database_record.ts";
import type { RuleContext } from "./list_rules.ts";

/** Errors: `rule_not_found`, those of `requireDatabase`. */
export async function deleteRule(
  ctx: RuleContext,
  input: { readonly address: DatabaseAddress; readonly ruleId: string },
): Promise<{ id: string }> {
  const database = await requireDatabase(ctx, input.address);
  if (!await ctx.rules.remove(database.id, input.ruleId)) throw new AppError("rule_not_found");
  return { id: input.ruleId };
}
