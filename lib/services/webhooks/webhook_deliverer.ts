// Delivers the messages of all webhooks of the process: one at a time of each, and of several processes one for each webhook.
import { reasonOf } from "../../core/attempt.ts";
import { AppError } from "../../core/errors.ts";
import type { WebhookRecord } from "../../store/changes_records.ts";
import type { ChangesTarget } from "../changes/read_changes.ts";
import { AGAIN_MS, type Delivered, deliverNext } from "./deliver_next.ts";
import type { WebhookContext } from "./webhook_context.ts";

/** Milliseconds between two looks at all webhooks: at what is due, and what other processes have added or changed. */
const SWEEP_MS = 30_000;
/** The same where other processes commit, of which nothing is told here. */
const POLL_MS = 3000;
/** Messages that are being sent at a time, in all and of one namespace: a receiver may take ten seconds each time. */
const MOST_SENDING = 64;
const MOST_OF_NAMESPACE = 8;

/** The deliverer of a process. The owner calls `start` once requests are answered, and `stop` at the end. */
export class WebhookDeliverer {
  readonly #holder = crypto.randomUUID();
  #byDatabase = new Map<string, WebhookRecord[]>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #sending = new Map<string, number>();
  /** Those that have nothing to send until they are told of something: where nobody else commits, none looks at them. */
  readonly #settled = new Set<string>();
  #sweeps: ReturnType<typeof setInterval> | null = null;
  /** The number of the sweep that began last, and of the one whose list is in use. */
  #begun = 0;
  #used = 0;
  #stopped = false;

  constructor(private readonly ctx: WebhookContext) {}

  /** Errors: none; what fails is tried again. */
  async start(): Promise<void> {
    const { tenants } = this.ctx.query;
    tenants.commits.watchAll((databaseId) => this.changed(databaseId));
    this.#sweeps = setInterval(() => void this.sweep(), tenants.commits.others ? POLL_MS : SWEEP_MS);
    await this.sweep();
  }

  /** Ends soon: messages that are being sent are waited for. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#sweeps !== null) {
      this.ctx.query.tenants.commits.watchAll(null);
      clearInterval(this.#sweeps);
    }
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#running.values());
  }

  /** Looks at all webhooks. Never throws. */
  async sweep(): Promise<void> {
    const sweep = ++this.#begun;
    try {
      const byDatabase = new Map<string, WebhookRecord[]>();
      for (const webhook of await this.ctx.control.webhooks.all()) {
        byDatabase.set(webhook.databaseId, [...byDatabase.get(webhook.databaseId) ?? [], webhook]);
      }
      // A sweep that began later knows of webhooks that this one could not see.
      if (sweep < this.#used) return;
      this.#used = sweep;
      this.#byDatabase = byDatabase;
      const all = [...byDatabase.values()].flat();
      const known = new Set(all.map(({ id }) => id));
      for (const id of this.#settled) if (!known.has(id)) this.#settled.delete(id);
      for (const webhook of all) if (!this.#settled.has(webhook.id)) this.#run(webhook);
    } catch (error) {
      this.ctx.log("warn", "webhooks_not_read", { reason: reasonOf(error) });
    }
  }

  /** To be called when a database, its events or its webhooks may have changed. */
  changed(databaseId: string): void {
    for (const webhook of this.#byDatabase.get(databaseId) ?? []) this.#run(webhook);
  }

  /** Does what sends one message now, within the bounds of all messages. Errors: `webhooks_busy`, those of `work`. */
  async withRoom<Result>(namespaceId: string, work: () => Promise<Result>): Promise<Result> {
    if (!this.#begin(namespaceId)) throw new AppError("webhooks_busy");
    try {
      return await work();
    } finally {
      this.#end(namespaceId);
    }
  }

  /** False where as many are under way as may be. */
  #begin(namespaceId: string): boolean {
    const ofNamespace = this.#sending.get(namespaceId) ?? 0;
    const all = this.#sending.values().reduce((sum, count) => sum + count, 0);
    if (all >= MOST_SENDING || ofNamespace >= MOST_OF_NAMESPACE) return false;
    this.#sending.set(namespaceId, ofNamespace + 1);
    return true;
  }

  #end(namespaceId: string): void {
    const left = (this.#sending.get(namespaceId) ?? 1) - 1;
    if (left > 0) this.#sending.set(namespaceId, left);
    else this.#sending.delete(namespaceId);
  }

  #run(webhook: WebhookRecord): void {
    const { id, namespaceId } = webhook;
    if (this.#stopped) return;
    if (this.#running.has(id)) return void this.#again.add(id);
    this.#settled.delete(id);
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (!this.#begin(namespaceId)) return this.#later(webhook, 200);
    const run = this.#deliver(webhook).then((next) => {
      this.#running.delete(id);
      this.#end(namespaceId);
      if (this.#again.delete(id)) this.#run(webhook);
      else if (next.again === "later") this.#later(webhook, next.ms);
      else if (!this.ctx.query.tenants.commits.others) this.#settled.add(id);
    });
    this.#running.set(id, run);
  }

  #later(webhook: WebhookRecord, ms: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timers.get(webhook.id));
    this.#timers.set(webhook.id, setTimeout(() => this.#run(webhook), Math.min(ms, SWEEP_MS)));
  }

  /** Delivers until there is nothing more to be done now. Never throws. */
  async #deliver({ id, databaseId, namespaceId }: WebhookRecord): Promise<Delivered> {
    const { control, query } = this.ctx;
    try {
      for (;;) {
        const nowMs = query.clock.now();
        const webhook = await control.webhooks.find(databaseId, id);
        const target = await this.#target(namespaceId, databaseId);
        if (webhook === null || target === null || this.#stopped) return { again: "when_changed" };
        const alone = !query.tenants.commits.others;
        const hold = () =>
          control.webhooks.hold(id, { holder: this.#holder, nowMs: query.clock.now(), alone });
        const next = await deliverNext(this.ctx, { nowMs, webhook, target, hold });
        if (next.again !== "now") return next;
      }
    } catch (error) {
      this.ctx.log("warn", "webhook_not_delivered", { webhookId: id, reason: reasonOf(error) });
      return { again: "later", ms: AGAIN_MS };
    }
  }

  /** Null where the database is deleted. */
  async #target(namespaceId: string, databaseId: string): Promise<ChangesTarget | null> {
    const { control } = this.ctx;
    const [namespace, database] = await Promise.all([
      control.namespaces.byId(namespaceId),
      control.databases.byId(namespaceId, databaseId),
    ]);
    if (namespace === null || database === null) return null;
    const { slug: databaseSlug, branchRef } = database;
    return { databaseId, namespaceId, namespaceSlug: namespace.slug, databaseSlug, branchRef };
  }
}
