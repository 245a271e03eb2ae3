// What the pages of one endpoint show: its form, its status, a way to try it, its calls and its revisions.
import { HOUR_MS } from "../../../../lib/core/clock.ts";
import type { Issue } from "../../../../lib/core/errors.ts";
import { exampleInput } from "../../../../lib/services/published/discovery/example_input.ts";
import type { EndpointView } from "../../../../lib/services/endpoints/endpoint_context.ts";
import type { HourStats } from "../../../../lib/services/endpoints/read_stats.ts";
import type { Visit } from "../../../http/visit.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Chart } from "../../parts/chart.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { Field } from "../../parts/field.tsx";
import { whole } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Pairs } from "../../parts/pairs.tsx";
import { SqlText } from "../../parts/sql_text.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import type { FormValues } from "./endpoint_form.ts";
import { SpecForm } from "./endpoint_form_view.tsx";
import { Revisions, type RevisionsProps } from "./endpoint_revisions_view.tsx";
import { type Tried, TryCard } from "./endpoint_try_view.tsx";
import { StatusPill } from "./endpoints_view.tsx";

/** The form of an endpoint that is to be. */
export interface NewEndpointProps {
  readonly visit: Visit;
  /** Where the endpoints stand. */
  readonly base: string;
  readonly values: FormValues;
  readonly issues: readonly Issue[] | null;
  readonly message: string | null;
  /** Placeholders of a statement that is handed over. */
  readonly wanted?: number;
}

/** The page of a new one. */
export function NewEndpoint({ base, ...props }: NewEndpointProps): Html {
  return (
    <>
      <Crumbs path={[["Endpoints", base]]} here="New endpoint" />
      <Card id="spec-title" title="New endpoint" about="a draft first: nobody outside reaches it">
        <SpecForm {...props} action={base} check={`${base}/-/check`} isNew />
      </Card>
    </>
  );
}

/** One endpoint. */
export interface EndpointProps extends NewEndpointProps {
  readonly endpoint: EndpointView;
  readonly manages: boolean;
  /** Of the last 24 hours; hours without calls are left out. */
  readonly stats: readonly HourStats[];
  readonly revisions: RevisionsProps["revisions"];
  readonly names: RevisionsProps["names"];
  /** The number of a revision that is compared with the present one. */
  readonly compared: number | null;
  readonly tried: Tried | null;
  readonly returned: Returned<"delete" | "status"> | null;
  /** Somebody was led here to set a gate. */
  readonly showsGates: boolean;
}

/** The page of one. */
export function Endpoint(props: EndpointProps): Html {
  const { base, endpoint, manages } = props;
  return (
    <>
      <Crumbs path={[["Endpoints", base]]} here={endpoint.slug} />
      <p class="facts jumps">
        <a href="#status">{manages ? "Publish or pause" : "Its address"}</a>
        {manages ? <a href="#try">Try it</a> : null}
        <a href="#calls">Calls</a>
      </p>
      <div class="beside">
        <div class="stack">
          <Card
            id="spec-title"
            title={visibleText(endpoint.name)}
            end={<StatusPill status={endpoint.status} />}
          >
            {manages
              ? (
                <SpecForm
                  {...props}
                  action={`${base}/${endpoint.slug}`}
                  check={`${base}/${endpoint.slug}/check`}
                  isNew={false}
                />
              )
              : <ReadSpec endpoint={endpoint} />}
          </Card>
          <Revisions {...props} path={`${base}/${endpoint.slug}`} />
        </div>
        <div class="stack">
          <Status {...props} />
          {manages ? <TryCard {...props} path={`${base}/${endpoint.slug}`} /> : null}
          <Calls {...props} />
          {manages ? <Delete {...props} /> : null}
        </div>
      </div>
    </>
  );
}

/** What a call of it does, for who changes nothing. */
function ReadSpec({ endpoint }: Pick<EndpointProps, "endpoint">): Html {
  const { description, input, sql } = endpoint;
  return (
    <div class="form">
      {description ? <p>{visibleText(description)}</p> : null}
      <SqlText sql={sql} />
      <Pairs
        pairs={input.map(({ name, type, required, label }) => ({
          name: <code>{name}</code>,
          kind: `${type}${required ? ", required" : ""}`,
          value: visibleText(label ?? ""),
        }))}
      />
    </div>
  );
}

const moves = {
  draft: [["publish", "Publish it", "approve"]],
  published: [["pause", "Pause it", "plain"], ["unpublish", "Take it back to a draft", "plain"]],
  paused: [["publish", "Publish it again", "approve"], ["unpublish", "Take it back to a draft", "plain"]],
} as const;

const meanings = {
  draft: "Nobody outside reaches it.",
  published: "Anybody may call it whom its gates let in.",
  paused: "Callers are told to come back later.",
} as const;

function Status(
  { visit, base, endpoint, manages, returned }: EndpointProps,
): Html {
  const { slug, status } = endpoint;
  const message = messageOf(returned, "status");
  return (
    <Card id="status" title={status.charAt(0).toUpperCase() + status.slice(1)}>
      <div class="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <p>{meanings[status]}</p>
        <CopyLine label="a call of it" text={callOf(endpoint)} />
        {manages
          ? moves[status].map(([to, words, kind]) => (
            <Form visit={visit} action={`${base}/${slug}/${to}`}>
              <Button kind={kind} wide>{words}</Button>
            </Form>
          ))
          : null}
      </div>
    </Card>
  );
}

/** A call that can be pasted, with a value for each input. */
function callOf(endpoint: EndpointView): string {
  const { method, url } = endpoint;
  const input = exampleInput(endpoint, "all") ?? exampleInput(endpoint) ?? {};
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  if (method === "POST") return `curl ${url} -d ${quoted(JSON.stringify(input))}`;
  const values = Object.entries(input).map(([name, value]) => [
    name,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
  return values.length === 0 ? `curl ${url}` : `curl ${quoted(`${url}?${new URLSearchParams(values)}`)}`;
}

function Calls({ stats, visit }: EndpointProps): Html {
  const last = visit.now - visit.now % HOUR_MS;
  const byHour = new Map(stats.map((hour) => [Date.parse(hour.from), hour]));
  const hours = Array.from({ length: 24 }, (_, at) => last - (23 - at) * HOUR_MS);
  const failed = ({ byStatus }: HourStats) =>
    Object.entries(byStatus).reduce((sum, [status, count]) => status >= "400" ? sum + count : sum, 0);
  const bars = (pick: (hour: HourStats) => number) =>
    hours.map((at) => {
      const hour = byHour.get(at);
      return {
        name: `${new Date(at).toISOString().slice(11, 13)}:00 UTC`,
        value: hour === undefined ? 0 : pick(hour),
      };
    });
  return (
    <Card id="calls" title="Calls" about="24 hours">
      {stats.length === 0 ? <p class="note">Nobody has called it.</p> : (
        <div class="form">
          <Chart label="Calls" bars={bars(({ calls }) => calls)} format={whole} />
          <Chart label="Refused or failed" bars={bars(failed)} format={whole} />
          <Chart
            label="Milliseconds, mean"
            bars={bars(({ durationAvgMs }) => durationAvgMs)}
            format={whole}
            told="highest"
          />
        </div>
      )}
    </Card>
  );
}

function Delete({ visit, base, endpoint: { slug }, returned }: EndpointProps): Html {
  const message = messageOf(returned, "delete");
  return (
    <Card id="delete" title="Delete it">
      <Form visit={visit} action={`${base}/${slug}/delete`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <Field label={`Type ${slug} to confirm`} {...fieldsOf(returned, "delete")("confirm")} required />
        <Button kind="deny" icon="trash">Delete the endpoint</Button>
      </Form>
    </Card>
  );
}
