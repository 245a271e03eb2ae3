// /console/:ns/usage: where calls, rows and money went, by hour or by day, of all databases or of one.
import { DAY_MS, HOUR_MS } from "../../../../lib/core/clock.ts";
import { Hono } from "hono";
import { getDatabase, readSlugs } from "../../../../lib/services/databases/manage_databases.ts";
import { readUsageSums } from "../../../../lib/services/money/manage_money.ts";
import { readUsageLatency } from "../../../../lib/services/money/read_usage_latency.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { renderPage } from "../../frame/page.tsx";
import { Usage } from "./usage_view.tsx";

/** How far each view looks back, and how wide its bars are. */
const spans = {
  day: { by: "hour", barMs: HOUR_MS, bars: 24 },
  week: { by: "hour", barMs: HOUR_MS, bars: 168 },
  month: { by: "day", barMs: DAY_MS, bars: 30 },
} as const;

/** Databases that are listed one by one, the dearest; and the chosen one, whatever it cost. */
const SHOWN = 100;

/** A view of the page. */
export type Span = keyof typeof spans;

const isSpan = (text: string | undefined): text is Span => text !== undefined && Object.hasOwn(spans, text);

/** Mounted under `/console`. */
export function usageRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().get("/:ns/usage", async (c) => {
    const namespace = c.req.param("ns");
    const [asked, only] = [c.req.query("span"), c.req.query("database") ?? null];
    const span = isSpan(asked) ? asked : "day";
    const { by, barMs, bars } = spans[span];
    const visit = c.get("visit");
    // The last bar is the one that is not over yet.
    const untilMs = visit.now - visit.now % barMs + barMs;
    const fromMs = untilMs - bars * barMs;
    const ctx = manageContext(deps, c);
    const chosen = only === null ? null : await getDatabase(ctx, { namespaceSlug: namespace, slug: only });
    const sums = await readUsageSums(ctx, {
      namespaceSlug: namespace,
      fromMs,
      toMs: untilMs,
      by,
      databaseId: chosen?.id ?? null,
    });
    const dearest = [...sums.byDatabase].sort(([, a], [, b]) => b.costUsd - a.costUsd);
    const isListed = ([id]: readonly [string, unknown], at: number) => at < SHOWN || id === chosen?.id;
    const listed = dearest.filter(isListed);
    const slugs = await readSlugs(ctx, namespace, listed.map(([id]) => id));
    const latency = await readUsageLatency({ ...deps, caller: ctx.caller }, {
      namespaceSlug: namespace,
      used: sums.byDatabase,
      slugs,
      only,
      by,
      sinceMs: fromMs,
      untilMs,
    });
    return await renderPage(
      c,
      { title: `Usage of ${namespace}`, namespace, active: "Usage" },
      <Usage
        namespace={namespace}
        baseUrl={deps.baseUrl}
        span={span}
        barMs={barMs}
        times={Array.from({ length: bars }, (_, at) => fromMs + at * barMs)}
        byTime={sums.byTime}
        listed={listed}
        others={dearest.filter((one, at) => !isListed(one, at)).map(([, used]) => used)}
        slugs={slugs}
        only={only}
        latency={latency}
      />,
    );
  });
}
