// /console/:ns/db/:db/webhooks: who is told of what happens in a database, how the deliveries went, and a form for another
// one. Webhooks belong to the trunk.
import { type Context, Hono } from "hono";
import type { z } from "zod";
import {
  addWebhook,
  changeWebhook,
  deleteWebhook,
  listWebhooks,
  redeliver,
  testWebhook,
} from "../../../../lib/services/webhooks/manage_webhooks.ts";
import { webhookSettings } from "../../../api/webhook_schemas.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { trunkPage } from "../../frame/database_pages.ts";
import { type Tested, Webhooks } from "./webhooks_view.tsx";

const PATH = "/:ns/db/:db/webhooks";

/** What a form has led to. */
interface Came {
  readonly returned?: Returned<"add">;
  readonly secret?: string;
  readonly tested?: Tested;
}

/** Mounted under `/console`. */
export function webhooksRoutes(deps: AppDeps): Hono<Env> {
  const place = (c: Context<Env>) => {
    const ctx = { ...manageContext(deps, c), ...deps.webhooks, query: deps.query };
    return { ...trunkPage(c, "webhooks"), ctx };
  };
  const page = async (c: Context<Env>, { returned, secret, tested }: Came) => {
    const { ctx, address, ref, base } = place(c);
    const path = c.req.param("db") ?? "";
    return await renderPage(
      c,
      {
        title: `Webhooks of ${address.slug}`,
        namespace: address.namespaceSlug,
        database: { path, tab: "Webhooks" },
        status: returned?.problem.status ?? (secret === undefined ? 200 : 201),
      },
      <Webhooks
        visit={c.get("visit")}
        base={base}
        onBranch={ref !== null}
        webhooks={await listWebhooks(ctx, address)}
        returned={returned ?? null}
        secret={secret ?? null}
        tested={tested ?? null}
      />,
    );
  };
  const one = (c: Context<Env>) => {
    const { ctx, address, base } = place(c);
    return { ctx, base, address: { ...address, webhookId: c.req.param("id") ?? "" } };
  };
  return new Hono<Env>()
    .get(PATH, (c) => page(c, {}))
    .post(PATH, async (c) => {
      const { ctx, address } = place(c);
      const fields = await readForm(c);
      const made = await attempt(() => {
        const { tables = null, ...settings } = settingsOf(fields);
        return addWebhook(ctx, address, { ...settings, tables });
      });
      if (made.ok) return await page(c, { secret: made.value.secret });
      return await page(c, { returned: { form: "add", fields, problem: made.problem } });
    })
    .post(`${PATH}/:id/test`, async (c) => {
      const { ctx, address } = one(c);
      const delivery = await testWebhook(ctx, address);
      return await page(c, { tested: { id: address.webhookId, delivery } });
    })
    .post(`${PATH}/:id/redeliver`, async (c) => {
      const { ctx, address, base } = one(c);
      await redeliver(ctx, address, null);
      return c.redirect(base, 303);
    })
    .post(`${PATH}/:id/enabled`, async (c) => {
      const { ctx, address, base } = one(c);
      const enabled = (await readForm(c)).text("enabled") === "yes";
      await changeWebhook(ctx, address, { enabled });
      return c.redirect(base, 303);
    })
    .post(`${PATH}/:id/secret`, async (c) => {
      const { ctx, address } = one(c);
      const { secret = "" } = await changeWebhook(ctx, address, { rotateSecret: true });
      return await page(c, { secret });
    })
    .post(`${PATH}/:id/delete`, async (c) => {
      const { ctx, address, base } = one(c);
      await deleteWebhook(ctx, address);
      return c.redirect(base, 303);
    });
}

/** Errors: `validation_failed`. */
function settingsOf(fields: FormFields): z.output<typeof webhookSettings> {
  const tables = fields.text("tables").split(/[,\n]/).map((name) => name.trim()).filter((name) =>
    name !== ""
  );
  return checked(webhookSettings, {
    url: fields.text("url"),
    events: fields.all("events"),
    ...(tables.length === 0 ? {} : { tables }),
  }, {
    url: "Write the address of a receiver, at most 2000 characters",
    events: "Choose what it is told of",
    tables: "Name at most 100 tables, or none for all",
  });
}
