// Caches facts of statements by database, schema version and text. Syntax alone is cached by text: it holds everywhere.
import { readSyntax, type SyntaxResult } from "../sql/syntax.ts";
import type { StatementFacts } from "../sql/statement_facts.ts";

/** Statements whose syntax is cached, and whose facts are cached for each database. */
const MAX_SYNTAX = 5000;
const MAX_FACTS = 500;
/** Databases whose facts are cached. */
const MAX_DATABASES = 2000;
/** Characters of the longest cached text: longer ones are rarely repeated and would fill the cache. */
const MAX_CACHED_LENGTH = 10_000;

interface DatabaseFacts {
  schemaVersion: number;
  readonly bySql: Map<string, StatementFacts>;
}

/** The facts that this process has learned, of the schema version that an engine reported last. */
export class FactsCache {
  readonly #syntax = new Map<string, SyntaxResult>();
  readonly #databases = new Map<string, DatabaseFacts>();

  syntax(sql: string): SyntaxResult {
    const known = this.#syntax.get(sql);
    if (known) return known;
    const result = readSyntax(sql);
    if (sql.length <= MAX_CACHED_LENGTH) putBounded(this.#syntax, sql, result, MAX_SYNTAX);
    return result;
  }

  /** The schema version of a database's cached facts; -1 where none are cached. */
  schemaVersion(databaseId: string): number {
    return this.#databases.get(databaseId)?.schemaVersion ?? -1;
  }

  get(databaseId: string, sql: string): StatementFacts | undefined {
    return this.#databases.get(databaseId)?.bySql.get(sql);
  }

  /** Caches a statement's facts. Another schema version drops those of before. */
  put(databaseId: string, schemaVersion: number, sql: string, facts: StatementFacts): void {
    this.seen(databaseId, schemaVersion);
    const entry = this.#databases.get(databaseId);
    if (entry && sql.length <= MAX_CACHED_LENGTH) putBounded(entry.bySql, sql, facts, MAX_FACTS);
  }

  /** Notes the schema version that the engine reported. */
  seen(databaseId: string, schemaVersion: number): void {
    const entry = this.#databases.get(databaseId);
    if (entry?.schemaVersion === schemaVersion) return;
    this.#databases.delete(databaseId);
    putBounded(this.#databases, databaseId, { schemaVersion, bySql: new Map() }, MAX_DATABASES);
  }

  forget(databaseId: string): void {
    this.#databases.delete(databaseId);
  }
}

/** Drops the oldest entry when full: a statement that is in use is soon learned again. */
function putBounded<K, V>(map: Map<K, V>, key: K, value: V, limit: number): void {
  if (map.size >= limit) {
    for (const oldest of map.keys()) {
      map.delete(oldest);
      break;
    }
  }
  map.set(key, value);
}
