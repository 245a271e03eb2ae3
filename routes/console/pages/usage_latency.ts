// How long calls took in the databases of a page of usage: of those with most calls, each from its own query log.
import type { Context } from "hono";
import { resolveCallerTarget } from "../../../lib/access/resolve_target.ts";
import { AppError } from "../../../lib/core/errors.ts";
import {
  type LatencyInput,
  type LatencyReport,
  readLatency,
} from "../../../lib/services/query/read_latency.ts";
import type { UsageView } from "../../../lib/services/money/manage_money.ts";
import type { AppDeps } from "../../http/app_deps.ts";
import type { Env } from "../../http/env.ts";
import { callerStatements } from "../../http/service_contexts.ts";
import { personCaller } from "../frame/session.ts";

/** Databases whose logs are read for one page. */
const MOST_DATABASES = 10;

/** Of which databases, and which time. */
export interface UsageLatencyInput extends LatencyInput {
  readonly namespaceSlug: string;
  readonly rows: readonly UsageView[];
  readonly slugs: ReadonlyMap<string, string>;
  /** The slug of the only database to show; null: all. */
  readonly only: string | null;
}

/** Slug → its latency, the database with most calls first; one that cannot be read now is left out. */
export async function usageLatency(
  { control, query }: AppDeps,
  c: Context<Env>,
  { namespaceSlug, rows, slugs, only, ...input }: UsageLatencyInput,
): Promise<ReadonlyMap<string, LatencyReport>> {
  const caller = personCaller(c);
  const reports = await Promise.all(
    busiest(rows, slugs).filter((slug) => only === null || slug === only).slice(0, MOST_DATABASES).map(
      async (slug): Promise<[string, LatencyReport] | null> => {
        try {
          const target = await resolveCallerTarget({ control }, caller, {
            namespaceSlug,
            databasePath: slug,
          });
          return [slug, await readLatency(callerStatements(query, { caller, target }), input)];
        } catch (error) {
          // What was used stands elsewhere, and is shown without it.
          if (error instanceof AppError) return null;
          throw error;
        }
      },
    ),
  );
  return new Map(reports.filter((report) => report !== null));
}

function busiest(rows: readonly UsageView[], slugs: ReadonlyMap<string, string>): string[] {
  const calls = new Map<string, number>();
  for (const { databaseId, requests } of rows) {
    const slug = slugs.get(databaseId);
    if (slug !== undefined) calls.set(slug, (calls.get(slug) ?? 0) + requests);
  }
  return [...calls].sort(([, one], [, other]) => other - one).map(([slug]) => slug);
}
