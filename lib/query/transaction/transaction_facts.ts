// The facts of statements inside a transaction. What is learned under a schema that nobody else sees never reaches the
// facts of the process: after a rollback, the next change of the schema gets the same version.
import { type Facts, FactsCache } from "../facts_cache.ts";
import type { TextRead, TextReader } from "../text_readers.ts";
import type { SyntaxResult } from "../../sql/grammar/syntax.ts";
import type { StatementFacts } from "../../sql/grammar/statement_facts.ts";

/** Shares what the process knows until the transaction has changed the schema. */
export class TransactionFacts implements Facts {
  #own = new FactsCache();
  /** The version that the transaction sees; null before its first statement. */
  #version: number | null = null;
  #changed: boolean;

  /** `changed`: the transaction has changed the schema before it came here. */
  constructor(private readonly shared: Facts, changed: boolean) {
    this.#changed = changed;
    if (changed) this.#version = -1;
  }

  /** The transaction has changed the schema. */
  get changed(): boolean {
    return this.#changed;
  }

  /** The transaction has begun, at this version of the schema. */
  begin(version: number): void {
    this.#version ??= version;
  }

  /** The transaction has changed the schema, or gone back behind a change of it: what was learned is void. */
  change(): void {
    this.#changed = true;
    this.#own = new FactsCache();
  }

  syntax(sql: string): SyntaxResult {
    return this.shared.syntax(sql);
  }

  get longTexts(): Facts["longTexts"] {
    return this.shared.longTexts;
  }

  readAhead(...asked: Parameters<Facts["readAhead"]>): Promise<void> | null {
    return this.shared.readAhead(...asked);
  }

  ahead<Reader extends TextReader>(reader: Reader, sql: string): TextRead<Reader> | undefined {
    return this.shared.ahead(reader, sql);
  }

  schemaVersion(databaseId: string): number {
    if (this.#version === null) return this.shared.schemaVersion(databaseId);
    return this.#changed ? this.#own.schemaVersion(databaseId) : this.#version;
  }

  get(databaseId: string, sql: string): StatementFacts | undefined {
    return this.#own.get(databaseId, sql) ??
      (this.#shares(databaseId) ? this.shared.get(databaseId, sql) : undefined);
  }

  put(databaseId: string, schemaVersion: number, sql: string, facts: StatementFacts): void {
    if (this.#shares(databaseId)) this.shared.put(databaseId, schemaVersion, sql, facts);
    else this.#own.put(databaseId, schemaVersion, sql, facts);
  }

  /** A transaction asks for its own schema. */
  likelySchema(): null {
    return null;
  }

  /** A transaction that has begun and has changed nothing sees one version until its end. */
  seen(databaseId: string, schemaVersion: number, schema?: string): void {
    if (this.#version === null) this.shared.seen(databaseId, schemaVersion, schema);
    else this.#own.seen(databaseId, schemaVersion);
  }

  /** Whether what the process knows is about the schema that the transaction sees. */
  #shares(databaseId: string): boolean {
    if (this.#version === null) return true;
    return !this.#changed && this.shared.schemaVersion(databaseId) === this.#version;
  }
}
