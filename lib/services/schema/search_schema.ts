// Finds tables and columns by words, with a cache of search indexes.
import { listed } from "../../sql/hints/known_tables.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readParts, type SchemaParts, toSchema } from "./read_schema.ts";
import { RankedSchema, type SearchHit } from "./ranked_schema.ts";
import { InTurn } from "../../core/in_turn.ts";
import { putNewest } from "../../core/put_newest.ts";

/** Databases in the cache. */
const MAX_CACHED = 100;
/** Characters of a schema above which its index is made for each search. */
const MAX_CACHED_LENGTH = 2_000_000;

/**
 * The search indexes of one process. Each is stored with the schema that it was made from, so none is ever out of
 * date.
 */
export class RankingCache {
  readonly #cached = new Map<string, Made>();
  /** Those of large schemas, while they are made. */
  readonly #making = new Map<string, Made>();
  readonly #turns = new InTurn();

  rankingOf(databaseId: string, parts: SchemaParts): Promise<RankedSchema> {
    const text = parts.results.join("\n");
    const known = this.#cached.get(databaseId) ?? this.#making.get(databaseId);
    if (text.length > MAX_CACHED_LENGTH) {
      this.#cached.delete(databaseId);
      return known?.text === text ? known.ranking : this.#makeLarge(databaseId, { text, parts });
    }
    const entry = known?.text === text ? known : { text, ranking: rankingOf(parts) };
    putNewest(this.#cached, databaseId, entry, MAX_CACHED);
    return entry.ranking;
  }

  /** One after the other, each for all that wait for it: many at once would take the memory and the time of all. */
  #makeLarge(
    databaseId: string,
    { text, parts }: { readonly text: string; readonly parts: SchemaParts },
  ): Promise<RankedSchema> {
    const ranking = this.#turns.run("large", () => rankingOf(parts));
    const made = { text, ranking };
    this.#making.set(databaseId, made);
    const forget = () => {
      if (this.#making.get(databaseId) === made) this.#making.delete(databaseId);
    };
    ranking.then(forget, forget);
    return ranking;
  }
}

async function rankingOf(parts: SchemaParts): Promise<RankedSchema> {
  return await RankedSchema.of(await toSchema(parts));
}

/** An index, and what it was made from. */
interface Made {
  readonly text: string;
  readonly ranking: Promise<RankedSchema>;
}

/** What a search needs. */
export interface SearchContext extends StatementsContext {
  readonly rankings: RankingCache;
}

/** The hits for one question. */
export interface SearchResult {
  readonly query: string;
  /** `error` says why the table cannot be read, where it cannot. */
  readonly hits: readonly (SearchHit & { readonly error?: string })[];
  /** What to try; present where nothing is found. */
  readonly hint?: string;
}

/** At most `limit` hits, best first. Errors: those of the pipeline. */
export async function searchSchema(
  ctx: SearchContext,
  { q, limit }: { readonly q: string; readonly limit: number },
): Promise<SearchResult> {
  const parts = await readParts(ctx);
  const ranking = await ctx.rankings.rankingOf(ctx.target.databaseId, parts);
  const hits = (await ranking.search(q, limit)).map((hit) => {
    const error = parts.errors.get(hit.table);
    return error === undefined ? hit : { ...hit, error };
  });
  return hits.length > 0 ? { query: q, hits } : { query: q, hits, hint: await nothingFound(parts) };
}

/** A search finds words of names and descriptions: what there is, and how it learns further words. */
async function nothingFound(parts: SchemaParts): Promise<string> {
  const { tables } = await toSchema(parts);
  if (tables.length === 0) return "The database has no tables yet";
  const undescribed = tables.filter(({ description }) => description === "").map(({ name }) => name);
  const learn = undescribed.length === 0
    ? "Put words that people use into the descriptions, by PUT describe"
    : `Describe ${listed(undescribed)} by PUT describe, in the words that people use`;
  return `Try a word of a name: there is ${listed(tables.map(({ name }) => name))}. ${learn}`;
}
