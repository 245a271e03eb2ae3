// Webhooks as the API and the console show them.
import type { ControlPlane } from "../../control/control_plane.ts";
import { isoTime } from "../../core/clock.ts";
import type { WebhookDelivery, WebhookEvent, WebhookRecord } from "../../store/changes_records.ts";

/** A try to deliver. */
export type DeliveryView = Omit<WebhookDelivery, "at"> & { readonly at: string };

/** A webhook as the API shows it. */
export interface WebhookView {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly tables: readonly string[] | null;
  readonly enabled: boolean;
  /** `ok`, `retrying` with an attempt to come, or why nothing is sent any more. */
  readonly state: "ok" | "retrying" | "gone" | "failed";
  readonly createdAt: string;
  readonly tries: number;
  readonly nextAttemptAt: string | null;
  readonly deliveries: readonly DeliveryView[];
}

/** With its state of now. Errors: `meter_unreachable`. */
export async function viewOf({ webhooks }: ControlPlane, record: WebhookRecord): Promise<WebhookView> {
  const { id, url, events, tables, enabled, createdAt } = record;
  const state = await webhooks.state(id);
  const { tries = 0, nextMs = 0, ended = null, deliveries = [] } = state ?? {};
  return {
    id,
    url,
    events,
    tables,
    enabled,
    createdAt: isoTime(createdAt),
    tries,
    state: ended ?? (tries > 0 ? "retrying" : "ok"),
    nextAttemptAt: tries > 0 && ended === null ? isoTime(nextMs) : null,
    deliveries: deliveries.map(shownDelivery),
  };
}

/** With its time as text. */
export function shownDelivery({ at, ...delivery }: WebhookDelivery): DeliveryView {
  return { ...delivery, at: isoTime(at) };
}
