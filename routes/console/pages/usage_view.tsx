// What the page of the usage shows: drawings of cost, calls, rows and latency, and the databases by what they cost.
import type { UsageFigures, UsageSumsView } from "../../../lib/services/money/manage_money.ts";
import type { LatencyReport } from "../../../lib/services/query/read_latency.ts";
import { Card } from "../parts/card.tsx";
import { type Bar, Chart } from "../parts/chart.tsx";
import { CopyLine } from "../parts/copy_line.tsx";
import { EmptyCard } from "../parts/empty.tsx";
import { usd, whole } from "../parts/figures.ts";
import { Grid } from "../parts/grid.tsx";
import type { Html } from "../parts/html.ts";
import { PageHead } from "../parts/page_head.tsx";
import { Segments } from "../parts/segments.tsx";

/** What the page tells. */
export interface UsageProps {
  readonly namespace: string;
  readonly baseUrl: string;
  readonly span: string;
  readonly barMs: number;
  /** When each bar begins, unix milliseconds. */
  readonly times: readonly number[];
  readonly sums: UsageSumsView;
  /** Id of a database → its slug; those that are gone have none. */
  readonly slugs: ReadonlyMap<string, string>;
  /** The slug of the only database to show; null: all. */
  readonly only: string | null;
  /** Slug → how long its calls took, the database with most calls first; of some databases only. */
  readonly latency: ReadonlyMap<string, LatencyReport>;
}

const DAY_MS = 86_400_000;
const shown = [["day", "24 hours"], ["week", "7 days"], ["month", "30 days"]] as const;

/** The page. */
export function Usage(props: UsageProps): Html {
  const { namespace, baseUrl, span, only, sums } = props;
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
      {sums.byDatabase.size === 0
        ? (
          <EmptyCard icon="usage" title="No call in this time">
            <p>Every statement is counted here with the rows it read and wrote. A first one:</p>
            <CopyLine
              label="the call"
              text={`curl -H "Authorization: Bearer $TOKEN" ${baseUrl}/v1/db/${namespace}/${
                [...props.slugs.values()][0] ?? "shop"
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

function Drawings({ times, sums, barMs, latency }: UsageProps): Html {
  const bars = (figure: keyof UsageFigures): Bar[] =>
    times.map((at) => ({ name: nameOf(at, barMs), value: sums.byTime.get(at)?.[figure] ?? 0 }));
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

function ByDatabase({ namespace, span, sums, slugs, latency }: UsageProps): Html {
  const used = [...sums.byDatabase].sort(([, a], [, b]) => b.costUsd - a.costUsd);
  const total = used.reduce((all, [, { costUsd }]) => all + costUsd, 0);
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
        rows={used.map(([id, sum]) => {
          const slug = slugs.get(id);
          const { p50Ms = null, p95Ms = null } = latency.get(slug ?? "") ?? {};
          return [
            slug === undefined
              ? (
                <>
                  gone or a branch
                  <small class="mono">{id}</small>
                </>
              )
              : <a href={`/console/${namespace}/usage?span=${span}&database=${slug}`}>{slug}</a>,
            whole(sum.requests),
            whole(sum.rowsRead),
            whole(sum.rowsWritten),
            p50Ms === null ? "" : took(p50Ms),
            p95Ms === null ? "" : took(p95Ms),
            usd(sum.costUsd),
            total === 0 ? "" : `${Math.round(sum.costUsd / total * 100)} %`,
          ];
        })}
      />
    </Card>
  );
}
