// What the page of the webhooks shows: each with its deliveries, and a form for another one.
import type { WebhookView } from "../../../../lib/services/webhooks/webhook_view.ts";
import { webhookEvents } from "../../../../lib/store/changes_records.ts";
import type { Visit } from "../../../http/visit.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { AskFirst } from "../../parts/ask_first.tsx";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Check } from "../../parts/check.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Pill } from "../../parts/pill.tsx";
import { ShownOnce } from "../../parts/shown_once.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";

type Delivery = WebhookView["deliveries"][number];

/** What became of a test message. */
export interface Tested {
  readonly id: string;
  readonly delivery: Delivery;
}

/** What the page tells. */
export interface WebhooksProps {
  readonly visit: Visit;
  /** Where the trunk's webhooks stand. */
  readonly base: string;
  readonly onBranch: boolean;
  readonly webhooks: readonly WebhookView[];
  readonly returned: Returned<"add"> | null;
  /** One that was just made. */
  readonly secret: string | null;
  readonly tested: Tested | null;
}

/** Deliveries that are shown of each. */
const SHOWN = 5;
const eventWords: Readonly<Record<(typeof webhookEvents)[number], string>> = {
  "change": "Changes of rows and of the schema",
  "approval.requested": "A write waits for a person",
  "approval.decided": "A person has decided about one",
  "backup.late": "The archive is behind",
};

/** The page. */
export function Webhooks(props: WebhooksProps): Html {
  const { base, onBranch, webhooks, secret } = props;
  if (onBranch) {
    return (
      <Notice>
        Webhooks belong to the trunk: <a href={base}>see them there</a>.
      </Notice>
    );
  }
  return (
    <div class="beside">
      <div class="stack">
        {secret === null ? null : <Secret secret={secret} />}
        {webhooks.length === 0
          ? <NoWebhooks />
          : webhooks.map((webhook, at) => <One {...props} webhook={webhook} number={at + 1} />)}
      </div>
      <Add {...props} />
    </div>
  );
}

function Secret({ secret }: { secret: string }): Html {
  return (
    <Card id="made" title="The secret" end={<ShownOnce />}>
      <div class="form">
        <p>
          The receiver checks messages by it. A lost one is replaced by a new one; the former signs beside it
          for a day.
        </p>
        <CopyLine label="the secret" text={secret} />
      </div>
    </Card>
  );
}

/** Two may have one address, so each has a number. */
function One(
  { webhook, number, tested, ...props }: WebhooksProps & { webhook: WebhookView; number: number },
): Html {
  const { id, url, events, tables, deliveries, tries, nextAttemptAt } = webhook;
  return (
    <Card
      id={id}
      title={`${number}. ${visibleText(url)}`}
      end={<State webhook={webhook} />}
      foot={<Acts {...{ ...props, webhook, number }} />}
    >
      <div class="form">
        {tested?.id === id ? <Outcome delivery={tested.delivery} /> : null}
        <p>
          {events.map((event) => eventWords[event]).join(". ")}.
          {tables === null || !events.includes("change")
            ? null
            : ` Changes of ${tables.map(visibleText).join(", ")} only.`}
        </p>
        {nextAttemptAt === null ? null : (
          <Notice tone="warn">
            Sent in vain {counted(tries, "time")}; again <Time at={nextAttemptAt} />.
          </Notice>
        )}
        {deliveries.length === 0 ? <p class="note">Nothing was sent yet.</p> : (
          <Grid
            label="Deliveries"
            columns={[{ name: "Sent" }, { name: "Message" }, { name: "Answer" }, {
              name: "Milliseconds",
              numeric: true,
            }]}
            rows={deliveries.slice(0, SHOWN).map((one) => [
              <Time at={one.at} />,
              <code>{one.type}</code>,
              answerOf(one),
              String(one.ms),
            ])}
          />
        )}
      </div>
    </Card>
  );
}

function State({ webhook: { enabled, state } }: { webhook: WebhookView }): Html {
  if (!enabled) return <Pill>Paused</Pill>;
  if (state === "ok") return <Pill tone="good" icon="check">Delivers</Pill>;
  if (state === "retrying") return <Pill tone="warn" icon="clock">Tries again</Pill>;
  return <Pill tone="bad" icon="cross">{state === "gone" ? "Ended by the receiver" : "Given up"}</Pill>;
}

function Outcome({ delivery }: { delivery: Delivery }): Html {
  const good = delivery.status !== null && delivery.status >= 200 && delivery.status < 300;
  return (
    <Notice tone={good ? "good" : "bad"}>
      The test message was answered by {answerOf(delivery)}, after {delivery.ms} ms.
    </Notice>
  );
}

const failureWords: Readonly<Record<string, string>> = {
  refused: "nothing: its address leads into a private network",
  timeout: "nothing in 10 seconds",
  connection: "nothing: the connection failed",
};

function answerOf({ status, failure }: Delivery): string {
  return status === null ? failureWords[failure ?? ""] ?? "nothing" : String(status);
}

function Acts(
  { webhook, number, base, visit }: Pick<WebhooksProps, "base" | "visit"> & {
    webhook: WebhookView;
    number: number;
  },
): Html {
  const path = `${base}/${encodeURIComponent(webhook.id)}`;
  const { enabled, state } = webhook;
  return (
    <div class="acts">
      <Form visit={visit} action={`${path}/test`}>
        <Button small>Send a test</Button>
      </Form>
      {state === "ok" ? null : (
        <Form visit={visit} action={`${path}/redeliver`}>
          <Button small>Try again now</Button>
        </Form>
      )}
      <Form visit={visit} action={`${path}/enabled`} hidden={{ enabled: enabled ? "no" : "yes" }}>
        <Button small>{enabled ? "Pause" : "Go on"}</Button>
      </Form>
      <Form visit={visit} action={`${path}/secret`}>
        <Button small icon="key">New secret</Button>
      </Form>
      <AskFirst
        visit={visit}
        action={`${path}/delete`}
        ask="Delete"
        name={`Delete webhook ${number}`}
        act="Delete the webhook"
      >
        It hears of nothing any more, nor of what still waits for it, and its secret is gone. Paused, it can
        go on.
      </AskFirst>
    </div>
  );
}

function Add({ visit, base, returned }: WebhooksProps): Html {
  const field = fieldsOf(returned, "add");
  const message = messageOf(returned, "add");
  const chosen = returned?.fields.all("events") ?? ["change"];
  const wrong = returned?.problem.fields["events"];
  return (
    <Card id="add" title="Add a webhook">
      <Form visit={visit} action={base} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field
          {...field("url")}
          label="Address"
          placeholder="https://app.example/hooks"
          hint="By https, on the public network. Each message is signed."
          maxLength={2000}
          required
        />
        <fieldset>
          <legend>Tells of</legend>
          {wrong === undefined ? null : <Notice tone="bad">{wrong}</Notice>}
          {webhookEvents.map((event) => (
            <Check name="events" value={event} label={eventWords[event]} checked={chosen.includes(event)} />
          ))}
        </fieldset>
        <Field
          {...field("tables")}
          label="Only changes of these tables"
          hint="Names with commas between them; empty for all."
        />
        <Button kind="primary" icon="plus">Add</Button>
      </Form>
    </Card>
  );
}

function NoWebhooks(): Html {
  return (
    <EmptyCard icon="bell" title="No webhook yet">
      <p>
        A webhook calls an address of yours when something has happened here: rows change, a write waits for a
        person, the archive is behind. Messages come in order, signed, and again until they have arrived.
      </p>
    </EmptyCard>
  );
}
