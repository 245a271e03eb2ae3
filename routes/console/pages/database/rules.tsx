// /console/:ns/db/:db/rules: which writes wait for a person and which are denied, with the tables that each rule means
// now. Rules belong to the trunk; a branch is held when it is merged.
import { type Context, Hono } from "hono";
import type { z } from "zod";
import { addRule, changeRule, deleteRule, listRules } from "../../../../lib/services/rules/manage_rules.ts";
import { matchedTables } from "../../../../lib/services/rules/matched_tables.ts";
import { ruleSettings } from "../../../api/rule_schemas.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import { trunkPage } from "../../frame/database_pages.ts";
import type { ReturnedRule } from "./rule_form_view.tsx";
import { Rules } from "./rules_view.tsx";

const PATH = "/:ns/db/:db/rules";

/** Mounted under `/console`. */
export function rulesRoutes(deps: AppDeps): Hono<Env> {
  const place = (c: Context<Env>) => ({ ...trunkPage(c, "rules"), ctx: manageContext(deps, c) });
  const page = async (c: Context<Env>, returned: ReturnedRule | null) => {
    const { ctx, address, ref, base } = place(c);
    const [rules, matched] = await Promise.all([listRules(ctx, address), matchedTables(ctx, address)]);
    const edited = returned?.ruleId ?? c.req.query("edit") ?? null;
    return await renderPage(
      c,
      {
        title: `Rules of ${address.slug}`,
        namespace: address.namespaceSlug,
        database: { path: ref === null ? address.slug : `${address.slug}@${ref}`, tab: "Rules" },
        swaps: true,
        returned,
      },
      <Rules
        visit={c.get("visit")}
        namespace={address.namespaceSlug}
        base={base}
        onBranch={ref !== null}
        rules={rules}
        matched={matched}
        edited={rules.find(({ id }) => id === edited) ?? null}
        tried={c.req.query("tableGlob") ?? null}
        returned={returned}
      />,
    );
  };
  return new Hono<Env>()
    .get(PATH, (c) => page(c, null))
    .post(PATH, async (c) => {
      const { ctx, address, base } = place(c);
      const fields = await readForm(c);
      const made = await attempt(() => addRule(ctx, { address, settings: settingsOf(fields) }));
      if (!made.ok) return await page(c, { ruleId: null, fields, problem: made.problem });
      return c.redirect(base, 303);
    })
    .post(`${PATH}/:id`, async (c) => {
      const { ctx, address, base } = place(c);
      const [ruleId, fields] = [c.req.param("id"), await readForm(c)];
      const changed = await attempt(async () => {
        // Whether it is on has a button of its own.
        const { enabled: _, tableGlob, ...others } = settingsOf(fields);
        const rule = (await listRules(ctx, address)).find(({ id }) => id === ruleId);
        // A field keeps neither the spaces around a name nor ends of lines: the rule would be about another table.
        const isSame = rule?.tableGlob.replaceAll(/[\r\n]/g, "").trim() === tableGlob;
        const settings = isSame ? others : { ...others, tableGlob };
        const revision = numberIn(fields, "revision");
        const read = typeof revision === "number" ? { revision } : {};
        return await changeRule(ctx, { address, ruleId, settings, ...read });
      });
      if (!changed.ok) return await page(c, { ruleId, fields, problem: changed.problem });
      return c.redirect(base, 303);
    })
    .post(`${PATH}/:id/enabled`, async (c) => {
      const { ctx, address, base } = place(c);
      const enabled = (await readForm(c)).text("enabled") === "yes";
      await changeRule(ctx, { address, ruleId: c.req.param("id"), settings: { enabled } });
      return c.redirect(base, 303);
    })
    .post(`${PATH}/:id/delete`, async (c) => {
      const { ctx, address, base } = place(c);
      await deleteRule(ctx, { address, ruleId: c.req.param("id") });
      return c.redirect(base, 303);
    });
}

/** Errors: `validation_failed`. */
function settingsOf(fields: FormFields): z.output<typeof ruleSettings> {
  const actions = fields.all("actions");
  return checked(ruleSettings, {
    tableGlob: fields.text("tableGlob"),
    actions: actions.length === 0 ? null : actions,
    effect: fields.text("effect"),
    minRows: numberIn(fields, "minRows"),
    unboundedOnly: fields.has("unboundedOnly"),
    tolerance: numberIn(fields, "tolerance") ?? 0,
    note: fields.optional("note") ?? null,
    enabled: true,
  }, {
    tableGlob: "Name a table, or a pattern with * and ?, of at most 200 characters",
    minRows: "Write a whole number from 1 on, or leave it empty",
    tolerance: "Write a whole number from 0 on",
    note: "Write at most 1000 characters",
  });
}

/** What is no number stays what it is, for the schema to refuse. */
function numberIn(fields: FormFields, name: string): number | string | null {
  const text = fields.optional(name);
  if (text === undefined) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}
