// Changes an approval rule: only what is given.
import { AppError } from "../../core/errors.ts";
import type { RuleRecord } from "../../store/write_records.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/database_record.ts";
import type { RuleContext } from "./list_rules.ts";
import { type RuleView, ruleView } from "./rule_view.ts";

export interface RuleChange {
  readonly address: DatabaseAddress;
  readonly ruleId: string;
  readonly settings: Partial<Omit<RuleRecord, "id" | "databaseId" | "createdAt">>;
}

/** Errors: `rule_not_found`, those of `requireDatabase`. */
export async function changeRule(ctx: RuleContext, input: RuleChange): Promise<RuleView> {
  const database = await requireDatabase(ctx, input.address);
  const changed = await ctx.rules.change(
    database.id,
    input.ruleId,
    (rule) => ({ ...rule, ...input.settings }),
  );
  if (changed === null) throw new AppError("rule_not_found");
  return ruleView(changed, await ctx.rules.list(database.id));
}
