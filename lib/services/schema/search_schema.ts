// Finds tables and columns by words.
import type { StatementsContext } from "../query/run_statements.ts";
import { readParts, type SchemaParts, toSchema } from "./read_schema.ts";
import { RankedSchema, type SearchHit } from "./ranked_schema.ts";

/** Databases whose ranking is kept. */
const MAX_KEPT = 100;
/** Characters of a schema as it is read, above which its ranking is made anew each time. */
const MAX_KEPT_LENGTH = 2_000_000;

/** Rankings of one process, each with the very text that it was made of, so that none is ever out of date. */
export class KeptRankings {
  readonly #kept = new Map<string, { readonly text: string; readonly ranking: RankedSchema }>();

  rankingOf(databaseId: string, parts: SchemaParts): RankedSchema {
    const text = parts.results.join("\n");
    const known = this.#kept.get(databaseId);
    this.#kept.delete(databaseId);
    const entry = known?.text === text ? known : { text, ranking: new RankedSchema(toSchema(parts)) };
    if (text.length > MAX_KEPT_LENGTH) return entry.ranking;
    this.#kept.set(databaseId, entry); // last place: the one that goes last
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(oldest);
    }
    return entry.ranking;
  }
}

export interface SearchContext extends StatementsContext {
  readonly rankings: KeptRankings;
}

export interface SearchResult {
  readonly query: string;
  /** `error`: why the table cannot be read, where it cannot. */
  readonly hits: readonly (SearchHit & { readonly error?: string })[];
}

/** At most `limit` hits, best first. Errors: those of the pipeline. */
export async function searchSchema(
  ctx: SearchContext,
  { q, limit }: { readonly q: string; readonly limit: number },
): Promise<SearchResult> {
  const parts = await readParts(ctx);
  const hits = ctx.rankings.rankingOf(ctx.target.databaseId, parts).search(q, limit).map((hit) => {
    const error = parts.errors.get(hit.table);
    return error === undefined ? hit : { ...hit, error };
  });
  return { query: q, hits };
}
