// A new approval rule. It holds for every write from then on, elsewhere within seconds.
import { MAX_RULES } from "../../control/rules.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { RuleRecord } from "../../store/write_records.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/database_record.ts";
import type { RuleContext } from "./list_rules.ts";
import { type RuleView, ruleView } from "./rule_view.ts";

type Settings = Omit<RuleRecord, "id" | "databaseId" | "createdAt">;

/** Errors: `validation_failed` above `MAX_RULES`, those of `requireDatabase`. */
export async function addRule(
  ctx: RuleContext,
  { address, settings }: { readonly address: DatabaseAddress; readonly settings: Settings },
): Promise<RuleView> {
  const database = await requireDatabase(ctx, address);
  const others = await ctx.rules.list(database.id);
  if (others.length >= MAX_RULES) {
    throw new AppError("validation_failed", {
      issues: [{ path: "tableGlob", message: `Delete a rule first; a database has at most ${MAX_RULES}` }],
    });
  }
  const now = ctx.clock.now();
  const rule = { ...settings, id: newId("rule", now), databaseId: database.id, createdAt: now };
  await ctx.rules.add(rule);
  return ruleView(rule, [...others, rule]);
}
