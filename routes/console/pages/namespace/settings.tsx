// /console/:ns/settings: the name of a namespace, what it may spend, and for the operator credit and its end.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { addCredit, readBalance } from "../../../../lib/services/money/manage_money.ts";
import {
  deleteNamespace,
  getNamespace,
  updateNamespace,
} from "../../../../lib/services/namespaces/manage_namespaces.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { displayName, monthlyCap, usd } from "../../../http/schemas.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { Settings, type SettingsForm } from "./settings_view.tsx";

const changed = z.object({ name: displayName, monthlyCapUsd: monthlyCap.nullable() });
const creditForm = z.object({
  amountUsd: usd(0.000001),
  reference: z.string().min(1).max(200),
});
const creditWords = {
  amountUsd: "Write an amount in dollars, such as 10 or 2.50",
  reference: "Write what it is booked under: the same reference counts once",
};

/** Mounted under `/console`. */
export function settingsRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, returned: Returned<SettingsForm> | null) => {
    const slug = c.req.param("ns") ?? "";
    const ctx = manageContext(deps, c);
    const [namespace, balance] = await Promise.all([getNamespace(ctx, slug), readBalance(ctx, slug)]);
    return await renderPage(
      c,
      {
        title: `Settings of ${slug}`,
        namespace: slug,
        active: "Settings",
        returned,
      },
      <Settings
        visit={c.get("visit")}
        namespace={namespace}
        balance={balance}
        returned={returned}
        saved={c.req.query("saved") !== undefined}
        credited={c.req.query("credited") !== undefined}
      />,
    );
  };
  return new Hono<Env>()
    .get("/:ns/settings", (c) => page(c, null))
    .post("/:ns/settings", async (c) => {
      const [slug, fields] = [c.req.param("ns"), await readForm(c)];
      const saved = await attempt(() => {
        const cap = fields.text("monthlyCapUsd");
        const input = { name: fields.text("name"), monthlyCapUsd: cap === "" ? null : Number(cap) };
        const words = { monthlyCapUsd: "Write dollars, such as 25; leave it empty for no cap" };
        return updateNamespace(manageContext(deps, c), { slug, ...checked(changed, input, words) });
      });
      if (!saved.ok) return await page(c, { form: "change", fields, problem: saved.problem });
      return c.redirect(`/console/${slug}/settings?saved`, 303);
    })
    .post("/:ns/settings/credit", async (c) => {
      const [namespaceSlug, fields] = [c.req.param("ns"), await readForm(c)];
      const added = await attempt(() =>
        addCredit(manageContext(deps, c), { namespaceSlug, ...creditOf(fields) })
      );
      if (!added.ok) return await page(c, { form: "credit", fields, problem: added.problem });
      return c.redirect(`/console/${namespaceSlug}/settings?credited`, 303);
    })
    .post("/:ns/settings/delete", async (c) => {
      const [slug, fields] = [c.req.param("ns"), await readForm(c)];
      const gone = await attempt(() =>
        deleteNamespace(manageContext(deps, c), { slug, confirm: fields.text("confirm") })
      );
      if (!gone.ok) return await page(c, { form: "delete", fields, problem: gone.problem });
      return c.redirect(`/console/-/namespaces?deleted=${slug}`, 303);
    });
}

/** Errors: `validation_failed`. */
function creditOf(fields: FormFields): z.output<typeof creditForm> {
  const input = { amountUsd: Number(fields.text("amountUsd") || NaN), reference: fields.text("reference") };
  return checked(creditForm, input, creditWords);
}
