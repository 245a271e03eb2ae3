// Caches facts of statements by database, schema version and text. Syntax alone is cached by text: it holds everywhere.
import { TextMap } from "../core/text_map.ts";
import { readSyntax, type SyntaxResult } from "../sql/grammar/syntax.ts";
import type { StatementFacts } from "../sql/grammar/statement_facts.ts";
import { KnownSchemas } from "./known_schemas.ts";
import { charactersOf } from "../core/plain_text.ts";
import { LONG_TEXT, type LongTexts } from "./long_texts.ts";
import type { TextRead, TextReader } from "./text_readers.ts";
import { TextsAhead } from "./texts_ahead.ts";

/** Texts whose syntax is cached, and texts of one database whose facts are. */
const MOST_SYNTAX = { texts: 5000, characters: 10_000_000 } as const;
const MOST_FACTS = { texts: 500, characters: 5_000_000 } as const;
/** Databases whose facts are cached, and texts of all of them. A text counts in each, although databases of one schema share it. */
const MAX_DATABASES = 20_000;
const MOST_ALL_FACTS = { texts: 200_000, characters: 100_000_000 } as const;
/** Characters of the longest cached text: longer ones are rarely repeated and would fill the cache. */
const MAX_CACHED_LENGTH = 10_000;

/** A text with its facts in the database where they were last learned. */
interface SharedFacts {
  readonly sql: string;
  readonly facts: StatementFacts;
  readonly json: string;
  /** The schema that this database has, by its number; null: it is not known, or databases do not share it. */
  readonly schema: number | null;
}

interface DatabaseFacts {
  readonly schemaVersion: number;
  /** As above. */
  schema: number | null;
  readonly bySql: TextMap<StatementFacts>;
}

/** The schema that a database probably has. */
export interface LikelySchema {
  readonly text: string;
  /** The facts of a text in it, where they are known. */
  facts(sql: string): StatementFacts | undefined;
}

/** The facts that the pipeline asks for, those of this process or of one transaction. */
export type Facts = Pick<
  FactsCache,
  "syntax" | "readAhead" | "ahead" | "longTexts" | "schemaVersion" | "get" | "put" | "seen" | "likelySchema"
>;

/** The facts that this process has learned, of the schema version that an engine reported last. */
export class FactsCache {
  readonly #syntax = new TextMap<SyntaxResult>(MOST_SYNTAX);
  readonly #databases = new Map<string, DatabaseFacts>();
  /** Databases of one schema hold the same objects: each for itself they would take a hundred times the memory. */
  readonly #shared = new TextMap<SharedFacts>(MOST_SYNTAX);
  readonly #schemas = new KnownSchemas();
  /** Of all databases. */
  #texts = 0;
  #characters = 0;
  readonly #ahead = new TextsAhead();

  /** `longTexts`: who reads long texts; absent: the thread that asks for their syntax. */
  constructor(readonly longTexts?: LongTexts) {
    if (longTexts) longTexts.onEnd = () => this.#ahead.forget();
  }

  /**
   * Reads the texts of a call where they are long, so that what `ahead` and `syntax` say of them is there at once. Null: they
   * are not, or it is.
   */
  readAhead(texts: readonly string[], reader: TextReader = "syntax"): Promise<void> | null {
    const { longTexts } = this;
    if (longTexts === undefined || charactersOf(texts) < LONG_TEXT) return null;
    const unread = [...new Set(texts)].filter((sql) => this.#isUnread(reader, sql));
    if (charactersOf(unread) < LONG_TEXT) return null;
    return this.#readTexts(longTexts, reader, unread);
  }

  /** What a reader has made of a text a moment ago; undefined: the text is to be read now. */
  ahead<Reader extends TextReader>(reader: Reader, sql: string): TextRead<Reader> | undefined {
    return this.#ahead.get(reader, sql);
  }

  #isUnread(reader: TextReader, sql: string): boolean {
    const isKnown = reader === "syntax" && this.#syntax.has(sql);
    return !isKnown && this.#ahead.get(reader, sql) === undefined;
  }

  async #readTexts(longTexts: LongTexts, reader: TextReader, texts: readonly string[]): Promise<void> {
    const results = await longTexts.read(reader, texts);
    for (const [at, sql] of texts.entries()) {
      const result = results[at];
      if (result !== undefined) this.#ahead.put(reader, sql, result);
    }
  }

  syntax(sql: string): SyntaxResult {
    const known = this.#syntax.get(sql);
    if (known) return known;
    const result = this.#ahead.get("syntax", sql) ?? readSyntax(sql);
    if (sql.length <= MAX_CACHED_LENGTH) this.#syntax.put(sql, result);
    return result;
  }

  /** The schema version of a database's cached facts; -1 where none are cached. */
  schemaVersion(databaseId: string): number {
    return this.#databases.get(databaseId)?.schemaVersion ?? -1;
  }

  /** The facts of a text in a database, also where only another database of the same schema has learned them. */
  get(databaseId: string, sql: string): StatementFacts | undefined {
    const database = this.#databases.get(databaseId);
    return database && (database.bySql.get(sql) ?? this.#adopt(databaseId, database, sql));
  }

  /** Null: the database is known, or nobody has learned the text in a schema that databases share. */
  likelySchema(databaseId: string, sql: string): LikelySchema | null {
    const schema = this.#databases.has(databaseId) ? null : this.#shared.get(sql)?.schema ?? null;
    const text = schema === null ? undefined : this.#schemas.textOf(schema);
    if (text === undefined) return null;
    return { text, facts: (other) => this.#inSchema(schema, other)?.facts };
  }

  /** Caches a statement's facts. Another schema version drops those of before. */
  put(databaseId: string, schemaVersion: number, sql: string, facts: StatementFacts): void {
    this.seen(databaseId, schemaVersion);
    const database = this.#databases.get(databaseId);
    if (!database || sql.length > MAX_CACHED_LENGTH) return;
    this.#keep(databaseId, database, this.#sharedWith(sql, facts, database.schema));
  }

  /** Notes the schema version that the engine reported, and the schema where it told it. */
  seen(databaseId: string, schemaVersion: number, text?: string): void {
    const schema = text === undefined ? null : this.#schemas.numberOf(text);
    const database = this.#databases.get(databaseId);
    if (database?.schemaVersion === schemaVersion) {
      database.schema = schema ?? database.schema;
      return;
    }
    this.forget(databaseId);
    for (const oldest of this.#databases.keys()) {
      if (this.#databases.size < MAX_DATABASES) break;
      this.forget(oldest);
    }
    this.#databases.set(databaseId, { schemaVersion, schema, bySql: new TextMap(MOST_FACTS) });
  }

  forget(databaseId: string): void {
    this.#count(this.#databases.get(databaseId), -1);
    this.#databases.delete(databaseId);
  }

  /** Takes over what another database of the same schema has learned. */
  #adopt(databaseId: string, database: DatabaseFacts, sql: string): StatementFacts | undefined {
    const shared = this.#inSchema(database.schema, sql);
    if (shared) this.#keep(databaseId, database, shared);
    return shared?.facts;
  }

  #inSchema(schema: number | null, sql: string): SharedFacts | undefined {
    const shared = this.#shared.get(sql);
    return schema !== null && shared?.schema === schema ? shared : undefined;
  }

  #keep(databaseId: string, database: DatabaseFacts, { sql, facts }: SharedFacts): void {
    this.#count(database, -1);
    database.bySql.put(sql, facts);
    this.#count(database, 1);
    const { texts, characters } = MOST_ALL_FACTS;
    for (const oldest of this.#databases.keys()) {
      if (this.#texts <= texts && this.#characters <= characters || oldest === databaseId) break;
      this.forget(oldest);
    }
  }

  #count(database: DatabaseFacts | undefined, sign: 1 | -1): void {
    this.#texts += sign * (database?.bySql.size ?? 0);
    this.#characters += sign * (database?.bySql.characters ?? 0);
  }

  /** A text that changes the schema is compiled for each database, which also tells whether it can be applied. */
  #sharedWith(sql: string, facts: StatementFacts, ofDatabase: number | null): SharedFacts {
    const schema = facts.class === "schema" ? null : ofDatabase;
    const json = JSON.stringify(facts);
    const known = this.#shared.get(sql);
    if (known?.json === json && known.schema === schema) return known;
    const shared = { sql, facts: known?.json === json ? known.facts : facts, json, schema };
    this.#shared.put(sql, shared);
    return shared;
  }
}
