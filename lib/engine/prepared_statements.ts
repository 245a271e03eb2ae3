// The cache of one connection's compiled statements of tenants.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { arrayStatement } from "./array_rows.ts";
import type { Bounded } from "./bounded_rows.ts";
import { isAlter } from "../sql/tokens/sql_tokens.ts";
import { noteCompiled, withMemory } from "./compiled_texts.ts";
import type { RunningLevel } from "./guard.ts";
import type { KnownRead, SchemaFacts } from "./schema_facts.ts";

/** Prepared statements cached for each connection. */
const CACHED_STATEMENTS = 128;

/** A statement with what its results look like. */
export interface Prepared extends Bounded {
  /** Compiled when it is first needed: a read of which the schema's facts know the bounded forms needs only these. */
  statement(): StatementSync;
  readonly columnsJson: string;
  /** The columns in the typed form, once somebody has asked for them. */
  typedColumns?: string;
  /** Reads integers as bigint, which is slower. A read switches to it when a number is too small; a write cannot run again. */
  bigIntegers: boolean;
}

/** The compiled statements of a connection; what is compiled has to pass its guard. */
export class PreparedStatements {
  readonly #prepared = new Map<string, Prepared>();
  /** The statement that was asked for last: those of a batch mostly have one text. It is the newest in the map. */
  #last: { readonly level: RunningLevel; readonly sql: string; readonly prepared: Prepared } | null = null;

  constructor(private readonly database: DatabaseSync) {}

  /** Throws what the engine throws. */
  of(level: RunningLevel, sql: string, facts: SchemaFacts | null): Prepared {
    if (this.#last?.sql === sql && this.#last.level === level) return this.#last.prepared;
    const prepared = this.#find(level, sql, facts);
    this.#last = { level, sql, prepared };
    return prepared;
  }

  #find(level: RunningLevel, sql: string, facts: SchemaFacts | null): Prepared {
    const key = level + sql;
    const cached = this.#prepared.get(key);
    if (cached) {
      // Inserting again moves the key to the end, so that the first key is the least recently used.
      if (this.#prepared.size > CACHED_STATEMENTS / 2) {
        this.#prepared.delete(key);
        this.#prepared.set(key, cached);
      }
      return cached;
    }
    const known = level === "read" ? facts?.reads.get(sql) : undefined;
    const prepared = known && facts
      ? this.#known(sql, known, facts.estimates.readsOneRow(sql))
      : this.#compiled(level, sql);
    if (this.#prepared.size >= CACHED_STATEMENTS) {
      for (const oldest of this.#prepared.keys()) {
        this.#prepared.delete(oldest);
        break;
      }
    }
    this.#prepared.set(key, prepared);
    return prepared;
  }

  /** Lets databases with the same schema know a read that has just run here. */
  share(sql: string, facts: SchemaFacts): void {
    const prepared = this.#prepared.get(`read${sql}`);
    if (!prepared?.forms || prepared.known?.rowCount === prepared.forms.rowCount) return;
    const { columns, columnsJson, forms: { rowCount, texts } } = prepared;
    facts.reads.set(sql, { columns, columnsJson, forms: { rowCount, texts } });
  }

  clear(): void {
    this.#last = null;
    this.#prepared.clear();
  }

  #compiled(level: RunningLevel, sql: string): Prepared {
    // A read is compiled and run again as a whole (`Connection.run`).
    const statement = level === "read" ? this.#compile(sql) : withMemory(() => this.#compile(sql));
    const columns = level === "schema" && isAlter(sql) ? [] : statement.columns().map(({ name }) => name);
    return {
      statement: () => statement,
      columns,
      columnsJson: JSON.stringify(columns),
      bigIntegers: level !== "read",
      forms: undefined,
      sql: level === "read" ? sql : null,
      known: null,
    };
  }

  #known(sql: string, { columns, columnsJson, forms }: KnownRead, small: boolean): Prepared {
    let statement: StatementSync | null = null;
    return {
      statement: () => statement ??= this.#compile(sql),
      columns,
      columnsJson,
      bigIntegers: false,
      forms: undefined,
      sql,
      known: { ...forms, small },
    };
  }

  #compile(sql: string): StatementSync {
    const statement = arrayStatement(this.database, sql);
    noteCompiled(this.database, sql);
    return statement;
  }
}
