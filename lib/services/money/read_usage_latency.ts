// How long calls took in the databases that were used: in those with most calls, each from its own query log.
import { type Caller, callerId } from "../../access/caller.ts";
import { resolveCallerTarget } from "../../access/resolve_target.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import { AppError } from "../../core/errors.ts";
import type { QueryContext } from "../../query/query_call.ts";
import { type LatencyInput, type LatencyReport, readLatency } from "../query/read_latency.ts";
import type { UsageSumsView } from "./manage_money.ts";

/** Databases whose logs are read for one page. */
const MOST_DATABASES = 10;

/** What it needs of a request. */
export interface UsageLatencyContext {
  readonly control: ControlPlane;
  readonly query: QueryContext;
  readonly caller: Caller;
}

/** Of which databases, and which time. */
export interface UsageLatencyInput extends LatencyInput {
  readonly namespaceSlug: string;
  /** Id of a database → what it used. */
  readonly used: UsageSumsView["byDatabase"];
  readonly slugs: ReadonlyMap<string, string>;
  /** The slug of the only database to show; null: all. */
  readonly only: string | null;
}

/** Slug → its latency, the database with most calls first; one that cannot be read now is left out. */
export async function readUsageLatency(
  { control, query, caller }: UsageLatencyContext,
  { namespaceSlug, used, slugs, only, ...input }: UsageLatencyInput,
): Promise<ReadonlyMap<string, LatencyReport>> {
  const reports = await Promise.all(
    busiest(used, slugs).filter((slug) => only === null || slug === only).slice(0, MOST_DATABASES).map(
      async (slug): Promise<[string, LatencyReport] | null> => {
        try {
          const target = await resolveCallerTarget({ control }, caller, {
            namespaceSlug,
            databasePath: slug,
          });
          return [slug, await readLatency({ ...query, target, tokenId: callerId(caller) }, input)];
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

function busiest(used: UsageSumsView["byDatabase"], slugs: ReadonlyMap<string, string>): string[] {
  return [...used].sort(([, one], [, other]) => other.requests - one.requests)
    .flatMap(([id]) => slugs.get(id) ?? []);
}
