// What a request about rules may hold, and what a rule looks like in answers.
import { z } from "zod";
import { plainText } from "../../lib/core/text_checks.ts";
import { isoTimestamp, someChange } from "../http/schemas.ts";

const rows = z.int().min(1).max(1_000_000_000);
/** All that its author decides about a rule. */
export const ruleSettings = z.strictObject({
  tableGlob: z.string().min(1).max(200).describe("* and ?, whatever the case"),
  actions: z.array(z.enum(["insert", "update", "delete", "schema"])).min(1).max(100).nullable().describe(
    "Null: all",
  ),
  effect: z.enum(["require_approval", "deny"]),
  minRows: rows.nullable().describe("Only from so many affected rows on"),
  unboundedOnly: z.boolean().describe(
    "Only UPDATE and DELETE without a WHERE that tells rows apart, REPLACE, and what drops or empties a table; never CREATE or ALTER",
  ),
  tolerance: z.int().min(0).max(1_000_000_000).describe("Rows by which an approved effect may have changed"),
  note: z.string().max(1000).check(plainText).nullable(),
  enabled: z.boolean(),
});
/** A new rule; what is left out is as in `ruleDefaults`. */
export const ruleBody = ruleSettings.partial().required({ tableGlob: true, effect: true }).meta({
  examples: [{
    tableGlob: "payments",
    actions: ["delete", "schema"],
    effect: "require_approval",
    tolerance: 0,
    note: "Payments are kept for ten years",
  }],
});
/** What changes. */
export const ruleChange = ruleSettings.partial().extend({
  revision: z.int().optional().describe(
    "As it was read: a change that somebody else made since is not undone",
  ),
}).refine(({ revision: _, ...settings }) => someChange[0](settings), someChange[1]).meta({
  anyOf: Object.keys(ruleSettings.shape).map((name) => ({ required: [name] })),
  examples: [{ minRows: 100, enabled: true }],
});
/** A rule as it is shown. */
export const ruleRecord = ruleSettings.extend({
  id: z.string(),
  revision: z.int(),
  createdAt: isoTimestamp,
  warnings: z.array(z.object({ code: z.enum(["renamed_around"]), message: z.string() }))
    .describe("How the rule can be got around, and what closes that"),
});
/** What a new rule is where its author does not say. */
export const ruleDefaults = {
  actions: null,
  minRows: null,
  unboundedOnly: false,
  tolerance: 0,
  note: null,
  enabled: true,
} as const;
