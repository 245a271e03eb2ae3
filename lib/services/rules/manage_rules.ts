// Adds, changes, deletes and lists the rules of a database, each with a warning where a rename gets around it.
import { requireFresh } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { MAX_RULES } from "../../core/limits.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import type { Also } from "../../store/until_committed.ts";
import type { RuleRecord } from "../../store/write_records.ts";
import { withAct } from "../note_act.ts";
import { type DatabaseAddress, readableDatabase, requireDatabase } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";

/** What its author decides about a rule. */
type Settings = Omit<RuleRecord, "id" | "databaseId" | "createdAt" | "revision">;

/** A rule as the API shows it. */
export interface RuleView extends Omit<RuleRecord, "databaseId" | "createdAt"> {
  readonly revision: number;
  readonly createdAt: string;
  readonly warnings: readonly RuleWarning[];
}

/** `rules`: all those of its database. */
function ruleView(record: RuleRecord, rules: readonly RuleRecord[]): RuleView {
  const { databaseId: _, createdAt, revision = 1, ...rule } = record;
  return { ...rule, revision, createdAt: isoTime(createdAt), warnings: ruleWarnings(record, rules) };
}

/** The rules of a database, in the order of their creation. Errors: those of `readableDatabase`. */
export async function listRules(ctx: ManageContext, address: DatabaseAddress): Promise<RuleView[]> {
  const database = await readableDatabase(ctx, address);
  const rules = await ctx.control.rules.list(database.id);
  return rules.map((rule) => ruleView(rule, rules));
}

/**
 * Adds a rule. It holds for every write from then on, in other processes within seconds. Errors: `validation_failed`
 * above `MAX_RULES`, those of `requireDatabase`.
 */
export async function addRule(
  ctx: ManageContext,
  { address, settings }: { readonly address: DatabaseAddress; readonly settings: Settings },
): Promise<RuleView> {
  const database = await requireDatabase(ctx, address);
  const now = ctx.clock.now();
  const rule = { ...settings, id: newId("rule", now), databaseId: database.id, createdAt: now };
  const act = withRule(ctx, "rule.created", database);
  if (!await ctx.control.rules.add(database.namespaceId, rule, (commit) => act(commit, rule))) {
    throw invalidInput("tableGlob", `Delete a rule first; a database has at most ${MAX_RULES}`);
  }
  return ruleView(rule, await ctx.control.rules.list(database.id));
}

/** A change of a rule: only the settings that are given. */
export interface RuleChange {
  readonly address: DatabaseAddress;
  readonly ruleId: string;
  readonly settings: Partial<Settings>;
  /** The one that its author has read; absent: whatever there is. */
  readonly revision?: number | undefined;
}

/**
 * Changes a rule, which may let writes pass. Errors: `sign_in_again`, `rule_not_found`, `validation_failed` where the
 * revision has passed, those of `requireDatabase`.
 */
export async function changeRule(ctx: ManageContext, input: RuleChange): Promise<RuleView> {
  const database = await requireDatabase(ctx, input.address);
  requireFresh(ctx.caller, ctx.clock.now());
  const changed = await ctx.control.rules.change(
    database.id,
    input.ruleId,
    (rule) => {
      const { revision = 1 } = rule;
      if ((input.revision ?? revision) !== revision) throw overtaken();
      return { ...rule, ...input.settings, revision: revision + 1 };
    },
    withRule(ctx, "rule.changed", database),
  );
  if (changed === null) throw new AppError("rule_not_found");
  return ruleView(changed, await ctx.control.rules.list(database.id));
}

function overtaken(): AppError {
  return invalidInput("revision", "Read the rule again; it has changed since this was read");
}

/** Deletes a rule. Errors: `sign_in_again`, `rule_not_found`, those of `requireDatabase`. */
export async function deleteRule(
  ctx: ManageContext,
  input: { readonly address: DatabaseAddress; readonly ruleId: string },
): Promise<{ id: string }> {
  const database = await requireDatabase(ctx, input.address);
  requireFresh(ctx.caller, ctx.clock.now());
  const { namespaceId, slug } = database;
  const act = withAct(ctx, "rule.deleted", { namespaceId, database: slug, target: input.ruleId });
  if (!await ctx.control.rules.remove(database.id, input.ruleId, act)) throw new AppError("rule_not_found");
  return { id: input.ruleId };
}

function withRule(
  ctx: ManageContext,
  action: "rule.created" | "rule.changed",
  { namespaceId, slug: database }: Pick<DatabaseRecord, "namespaceId" | "slug">,
): Also<[RuleRecord]> {
  return (commit, { id: target, tableGlob, effect, enabled }) => {
    const facts = { tableGlob, effect, enabled };
    return withAct(ctx, action, { namespaceId, database, target, facts })(commit);
  };
}

/** A weak point of a rule, and what closes it. */
export interface RuleWarning {
  readonly code: "renamed_around";
  readonly message: string;
}

/** The weak points of a rule among all rules of its database. Pure. */
export function ruleWarnings(rule: RuleRecord, rules: readonly RuleRecord[]): RuleWarning[] {
  if (!rule.enabled || rule.actions === null || rule.actions.includes("schema")) return [];
  // Whatever its name, a table is under such a rule.
  if (isForAll(rule.tableGlob) || rules.some((other) => stopsRenames(other, rule))) return [];
  return [{
    code: "renamed_around",
    message:
      `Add schema to the actions, or a rule for schema on ${rule.tableGlob}: an admin token can rename the table, ` +
      "change its rows and name it back, and this rule does not see it",
  }];
}

/** A rename changes the schema under both names, however many rows there are. */
function stopsRenames(other: RuleRecord, { tableGlob }: RuleRecord): boolean {
  return other.enabled && !other.unboundedOnly &&
    (other.actions === null || other.actions.includes("schema")) &&
    (isForAll(other.tableGlob) || other.tableGlob.toLowerCase() === tableGlob.toLowerCase());
}

/** Whether every name matches, also of tables to come. */
export function isForAll(glob: string): boolean {
  return /^\*+$/.test(glob);
}
