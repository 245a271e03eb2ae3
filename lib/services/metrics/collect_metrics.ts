// All that the process tells to whoever scrapes. It is read at that moment: between two scrapes nothing is done for it but to
// count.
import { statfs } from "node:fs/promises";
import type { Config } from "../../config.ts";
import { byLabel, counter, gauge, type MetricFamily } from "../../core/metrics.ts";
import type { QueryContext } from "../../query/query_call.ts";
import { dataFormat } from "../../store/data_format.ts";
import type { MailQueue } from "../mail/mail_queue.ts";
import type { WebhookContext } from "../webhooks/webhook_context.ts";
import type { RequestCounts } from "./request_counts.ts";

/** The parts of the process that have something to tell. */
export interface MetricsContext {
  readonly config: Pick<Config, "dataDir" | "hosted" | "kvUrl" | "tenantsUrl">;
  readonly requests: RequestCounts;
  readonly query: QueryContext;
  readonly published: { readonly mail: MailQueue | null };
  readonly webhooks: { readonly sending: Pick<WebhookContext, "attempts"> };
}

/** The families in the order in which they are shown. What does not exist here is left out. */
export async function collectMetrics(ctx: MetricsContext): Promise<MetricFamily[]> {
  const { requests, query, published: { mail } } = ctx;
  return [
    ...await processMetrics(ctx),
    ...requests.families(),
    ...query.counts.families(),
    ...query.tenants.metrics(),
    gauge(
      "reserved_nano_usd",
      "Prepaid money that this process holds for calls to come, of all namespaces together, in 10^-9 USD",
      query.meter.reservedNanoUsd,
    ),
    counter(
      "webhook_attempts",
      "Attempts to deliver a message of a webhook",
      byLabel("outcome", ctx.webhooks.sending.attempts),
    ),
    ...(mail === null ? [] : [
      counter(
        "mails",
        "Mails that were sent, and that nobody will try again",
        byLabel("outcome", mail.ended),
      ),
    ]),
  ];
}

async function processMetrics({ config, requests }: MetricsContext): Promise<MetricFamily[]> {
  const version = dataFormat.writtenBy.replace("cubby ", "");
  const labels = { version, tenants: config.tenantsUrl.kind, deno: Deno.version.deno };
  const freeBytes = await freeBytesOf(config);
  return [
    gauge("build_info", "The program, and where tenants' databases are; always 1", [{ labels, value: 1 }]),
    gauge("process_start_time_seconds", "Unix time at which the process started", requests.startedMs / 1000),
    gauge(
      "process_resident_memory_bytes",
      "Bytes of memory that the service's own process holds",
      Deno.memoryUsage().rss,
    ),
    ...(freeBytes === null ? [] : [
      gauge("disk_free_bytes", "Bytes of the disk of DATA_DIR that the service may still use", freeBytes),
    ]),
  ];
}

/** Null where nothing is kept on a disk, or the process may not ask. */
async function freeBytesOf(
  { dataDir, hosted, kvUrl, tenantsUrl }: MetricsContext["config"],
): Promise<number | null> {
  if (hosted || (kvUrl !== null && tenantsUrl.kind !== "file")) return null;
  try {
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize;
  } catch {
    return null;
  }
}
