// What the page of the usage shows: drawings of cost, calls, rows and latency, and the databases by what they cost.
import { DAY_MS } from "../../../../lib/core/clock.ts";
import type { UsageFigures, UsageSumsView } from "../../../../lib/services/money/manage_money.ts";
import type { LatencyReport } from "../../../../lib/services/query/read_latency.ts";
import { Card } from "../../parts/card.tsx";
import { type Bar, Chart } from "../../parts/chart.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { counted, usd, whole } from "../../parts/figures.ts";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { PageHead } from "../../parts/page_head.tsx";
import { Segments } from "../../parts/segments.tsx";

/** What the page tells. */
export interface UsageProps {
  readonly namespace: string;
  readonly baseUrl: string;
  readonly span: string;
  readonly barMs: number;
  /** When each bar begins, unix milliseconds. */
  readonly times: readonly number[];
  readonly byTime: UsageSumsView["byTime"];
  /** Id of a database and what it used, the dearest first: those that are listed one by one. */
  readonly listed: readonly (readonly [id: string, used: UsageFigures])[];
  readonly others: readonly UsageFigures[];
  /** Id of a listed database → its slug; those that are gone have none. */
  readonly slugs: ReadonlyMap<string, string>;
  /** The slug of the only database to show; null: all. */
  readonly only: string | null;
  /** Slug → how long its calls took, the database with most calls first; of some databases only. */
  readonly latency: ReadonlyMap<string, LatencyReport>;
}

const shown = [["day", "24 hours"], ["week", "7 days"], ["month", "30 days"]] as const;

/** The page. */
export function Usage(props: UsageProps): Html {
  const { namespace, baseUrl, span, only, listed } = props;
  const more = only === null ? "" : `&database=${encodeURIComponent(only)}`;
  const views = shown.map(([name, text]) => ({
    name: text,
    href: `/console/${namespace}/usage?span=${name}${more}`,
    current: name === span,
  }));
  return (
    <>
      <PageHead
        title={only === null ? "Usage" : `Usage of ${only}`}
        end={<Segments label="Time" segments={views} />}
        about={only === null
          ? "What databases were asked and what it cost, in UTC. Looking at the console costs nothing."
          : <a href={`/console/${namespace}/usage?span=${span}`}>Show all databases</a>}
      />
      {listed.length === 0
        ? (
          <EmptyCard icon="usage" title="No call in this time">
            <p>Every statement is counted here with the rows it read and wrote. A first one:</p>
            <CopyLine
              label="the call"
              text={`curl -H "Authorization: Bearer $TOKEN" ${baseUrl}/v1/db/${namespace}/${
                only ?? "shop"
              }/query -d '{"sql":"SELECT 1"}'`}
            />
          </EmptyCard>
        )
        : (
          <div class="stack">
            <Drawings {...props} />
            <ByDatabase {...props} />
          </div>
        )}
    </>
  );
}

function Drawings({ times, byTime, barMs, latency }: UsageProps): Html {
  const bars = (figure: keyof UsageFigures): Bar[] =>
    times.map((at) => ({ name: nameOf(at, barMs), value: byTime.get(at)?.[figure] ?? 0 }));
  return (
    <div class="charts">
      <Chart label="Cost" bars={bars("costUsd")} format={usd} />
      <Chart label="Calls" bars={bars("requests")} format={whole} />
      <Chart label="Rows read" bars={bars("rowsRead")} format={whole} />
      <Chart label="Rows written" bars={bars("rowsWritten")} format={whole} />
      <LatencyCharts times={times} barMs={barMs} latency={latency} />
    </div>
  );
}

/** Of one database: medians of several add up to nothing. */
function LatencyCharts(
  { times, barMs, latency }: Pick<UsageProps, "times" | "barMs" | "latency">,
): Html | null {
  const [busiest] = latency;
  if (busiest === undefined) return null;
  const [slug, { over }] = busiest;
  const byTime = new Map(over.map((one) => [Date.parse(one.from), one]));
  const bars = (figure: "p50Ms" | "p95Ms"): Bar[] =>
    times.map((at) => ({ name: nameOf(at, barMs), value: byTime.get(at)?.[figure] ?? 0 }));
  return (
    <>
      <Chart
        label={`Latency of ${slug}, half of its calls below`}
        bars={bars("p50Ms")}
        format={took}
        told="highest"
      />
      <Chart
        label={`Latency of ${slug}, 95 of 100 calls below`}
        bars={bars("p95Ms")}
        format={took}
        told="highest"
      />
    </>
  );
}

function took(ms: number): string {
  return `${ms < 10 ? Math.round(ms * 10) / 10 : whole(Math.round(ms))} ms`;
}

/** "2026-11-21" for a day, "11-21 14:00" for an hour. */
function nameOf(at: number, barMs: number): string {
  const iso = new Date(at).toISOString();
  return barMs === DAY_MS ? iso.slice(0, 10) : `${iso.slice(5, 10)} ${iso.slice(11, 16)}`;
}

function ByDatabase({ namespace, span, listed, others, slugs, latency }: UsageProps): Html {
  const rest = sumOf(others);
  const total = sumOf(listed.map(([, used]) => used)).costUsd + rest.costUsd;
  const figures = (used: UsageFigures, { p50Ms, p95Ms }: Partial<LatencyReport> = {}) => [
    whole(used.requests),
    whole(used.rowsRead),
    whole(used.rowsWritten),
    typeof p50Ms === "number" ? took(p50Ms) : "",
    typeof p95Ms === "number" ? took(p95Ms) : "",
    usd(used.costUsd),
    total === 0 ? "" : `${Math.round(used.costUsd / total * 100)} %`,
  ];
  return (
    <Card id="by-database" title="By database" about="the dearest first" full>
      <Grid
        label="Usage by database"
        columns={[
          { name: "Database" },
          { name: "Calls", numeric: true },
          { name: "Rows read", numeric: true },
          { name: "Rows written", numeric: true },
          { name: "p50", numeric: true },
          { name: "p95", numeric: true },
          { name: "Cost", numeric: true },
          { name: "Share", numeric: true },
        ]}
        rows={[
          ...listed.map(([id, used]) => {
            const slug = slugs.get(id);
            return [
              slug === undefined
                ? (
                  <>
                    gone or a branch
                    <small class="mono">{id}</small>
                  </>
                )
                : <a href={`/console/${namespace}/usage?span=${span}&database=${slug}`}>{slug}</a>,
              ...figures(used, latency.get(slug ?? "")),
            ];
          }),
          ...(others.length === 0 ? [] : [[counted(others.length, "other"), ...figures(rest)]]),
        ]}
      />
    </Card>
  );
}

function sumOf(all: readonly UsageFigures[]): UsageFigures {
  const sum = (figure: keyof UsageFigures) => all.reduce((total, used) => total + used[figure], 0);
  return {
    requests: sum("requests"),
    rowsRead: sum("rowsRead"),
    rowsWritten: sum("rowsWritten"),
    costUsd: sum("costUsd"),
  };
}
