// /api/namespaces/:slug/databases/:dbSlug/webhooks: who is told by a request of what happens in a database.
import { type Context, Hono } from "hono";
import { z } from "zod";
import {
  addWebhook,
  changeWebhook,
  deleteWebhook,
  listWebhooks,
  redeliver,
  testWebhook,
  type WebhooksContext,
} from "../../lib/services/webhooks/manage_webhooks.ts";
import { describing, sendData } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, noQuery, someChange } from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";
import { noBody, validate } from "../middleware/validate.ts";
import { webhookMembers, webhookSettings } from "./webhook_schemas.ts";
import { addressOf } from "./path_names.ts";

const PATH = "/:slug/databases/:dbSlug/webhooks";
const described = describing(["webhooks"]);

const { url, events, tables } = webhookMembers;
const change = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  tables: tables.optional(),
  enabled: z.boolean().optional(),
  rotateSecret: z.literal(true).optional().describe("The former secret signs too for a day"),
}).refine(...someChange).meta({ minProperties: 1, examples: [{ enabled: false }] });
const redelivery = z.strictObject({
  since: z.string().max(40).optional().describe("Id of a change: what came behind it is sent again"),
}).meta({ examples: [{}] }).prefault({});

const delivery = z.object({
  messageId: z.string(),
  type: z.string(),
  at: isoTimestamp,
  ms: z.int(),
  status: z.int().nullable().describe("Of the receiver's answer; null: there was none"),
  failure: z.enum(["refused", "timeout", "connection"]).nullable(),
});
const webhook = z.object({
  id: z.string(),
  url,
  events,
  tables,
  enabled: z.boolean(),
  state: z.enum(["ok", "retrying", "gone", "failed"]),
  createdAt: isoTimestamp,
  tries: z.int(),
  nextAttemptAt: isoTimestamp.nullable(),
  deliveries: z.array(delivery).describe("The last 20 attempts, the newest first"),
});
const secret = z.string().describe("whsec_…, shown once");

/** Mounted under `/api/namespaces`. */
export function webhookRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      PATH,
      described("List the webhooks", z.array(webhook)),
      validate("query", noQuery),
      async (c) => sendData(c, await listWebhooks(contextOf(deps, c), addressOf(c))),
    )
    .post(
      PATH,
      described("Add a webhook", z.object({ id: z.string(), secret }), { status: 201 }),
      validate("json", webhookSettings),
      async (c) => {
        const { tables = null, ...settings } = c.req.valid("json");
        const data = await addWebhook(contextOf(deps, c), addressOf(c), { ...settings, tables });
        return sendData(c, data, 201);
      },
    )
    .patch(
      `${PATH}/:id`,
      described("Change a webhook, or give it a new secret", webhook.extend({ secret: secret.optional() })),
      validate("json", change),
      async (c) => {
        const given = Object.fromEntries(
          Object.entries(c.req.valid("json")).filter(([, value]) => value !== undefined),
        );
        const data = await changeWebhook(contextOf(deps, c), webhookOf(c), given);
        return sendData(c, data);
      },
    )
    .delete(
      `${PATH}/:id`,
      described("Delete a webhook", z.object({ id: z.string() })),
      noBody,
      async (c) => sendData(c, await deleteWebhook(contextOf(deps, c), webhookOf(c))),
    )
    .post(
      `${PATH}/:id/test`,
      described("Send a test message", delivery, { status: 201 }),
      noBody,
      async (c) => sendData(c, await testWebhook(contextOf(deps, c), webhookOf(c)), 201),
    )
    .post(
      `${PATH}/:id/redeliver`,
      described("Send again what waits, or what came behind a change", webhook),
      validate("json", redelivery),
      async (c) => {
        const { since = null } = c.req.valid("json");
        const data = await redeliver(contextOf(deps, c), webhookOf(c), since);
        return sendData(c, data);
      },
    );
}

function contextOf(deps: AppDeps, c: Context<Env>): WebhooksContext {
  return { ...manageContext(deps, c), ...deps.webhooks, query: deps.query };
}

function webhookOf(c: Context<Env, `${typeof PATH}/:id`>) {
  return { ...addressOf(c), webhookId: c.req.param("id") };
}
