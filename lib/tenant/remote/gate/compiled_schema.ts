// A schema in memory with what is known of statements in it. Databases whose schemas are the same, text by text, share it:
// a thousand tenants of one application are one schema.
import { charactersOf } from "../../../core/plain_text.ts";
import { TextMap } from "../../../core/text_map.ts";
import type { EngineFacts } from "../../../sql/grammar/statement_facts.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import { makeSchema } from "../../../engine/make_schema.ts";
import { Expansion } from "./expansion.ts";
import { type GateEngine, gateEngine } from "./gate_engine.ts";
import { KnownTexts } from "./known_texts.ts";
import type { OpenSchemaConnection, SchemaConnection } from "./schema_connection.ts";

/** What one database's schema is made of. */
export interface TenantSchema {
  /** The engine's own schema version. */
  readonly engineVersion: number;
  /** Statements that make it, in an order in which they can run. */
  readonly statements: readonly string[];
  /** ANALYZE has made its tables. */
  readonly analyzed: boolean;
  /** AUTOINCREMENT has made its table, which stays behind the last table that used it. */
  readonly numbered: boolean;
}

/** What the schema itself depends on. */
type SchemaTexts = Pick<TenantSchema, "statements" | "analyzed" | "numbered">;

/** Makes `sqlite_sequence` in an empty database. */
const NUMBERED = "CREATE TABLE one (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE one";
/** Schemas that are kept for the next database that has them, and their characters: a tenant makes one as long as it likes. */
const MOST = { texts: 50, characters: 20_000_000 } as const;

/**
 * Characters of all schemas that are made at a time. Each takes an engine up to 80 bytes, and what engines and Deno KV may hold
 * together in one process is bounded (`hard_heap_limit`): without memory the control plane would stand still.
 */
const MOST_MADE = 800_000;

/** Those that are, the longest unused one first. Each works in one go, so that no other is at work when one is closed. */
const made = new Set<CompiledSchema>();
let madeCharacters = 0;

/** Characters of all schemas that are made. */
export function charactersMade(): number {
  return madeCharacters;
}

/** Whoever works on its connection leaves the schema as it is. */
export class CompiledSchema {
  /** Decisions about statements under levels, by both. */
  readonly gates = new KnownTexts<EngineFailure | null>();
  /** Facts of statements that change no schema, with foreign keys, by text. */
  readonly facts = new KnownTexts<EngineFacts>({ keepsLong: true });
  /** Texts that do more than insert one row. */
  readonly doMore = new KnownTexts<boolean>();

  #connection: SchemaConnection | null = null;
  #expansion: Expansion | null = null;
  readonly #characters: number;

  constructor(private readonly open: OpenSchemaConnection, private readonly schema: SchemaTexts) {
    this.#characters = charactersOf(schema.statements);
  }

  /** Made when it is asked for; what others have not used for longest is closed for it. */
  get connection(): SchemaConnection {
    if (this.#connection === null) {
      this.#connection = this.copy();
      madeCharacters += this.#characters;
    }
    made.delete(this);
    made.add(this);
    for (const oldest of made) {
      if (madeCharacters <= MOST_MADE || oldest === this) break;
      oldest.close();
    }
    return this.#connection;
  }

  /** It is made again when it is asked for. */
  close(): void {
    if (this.#connection === null) return;
    made.delete(this);
    madeCharacters -= this.#characters;
    this.#connection.close();
    this.#connection = null;
  }

  /** Read when it is first asked for. */
  get expansion(): Expansion {
    return this.#expansion ??= new Expansion(this.schema.statements);
  }

  /** To be made anew. */
  get broken(): boolean {
    return this.#connection?.broken ?? false;
  }

  /** The schema once more, for work that changes it; the caller closes it. */
  copy(): SchemaConnection {
    const connection = this.open();
    try {
      if (this.schema.numbered) connection.exec(NUMBERED);
      makeSchema(connection, this.schema.statements, (error) => {
        // What this engine cannot read does not exist here, and is thereby closed.
        if (error instanceof TypeError) throw error;
      });
      if (this.schema.analyzed) connection.exec("ANALYZE");
    } catch (error) {
      // What it has made so far would go on to hold memory that all engines share.
      connection.close();
      throw error;
    }
    return connection;
  }
}

/** By all texts rather than by a digest of them: no two can be taken for one. The longest unused one first. */
const shared = new TextMap<CompiledSchema>(MOST);

/** The schema as every database has it that has the same texts. Errors: those of `gateEngine`. */
export async function compiledSchema(wanted: GateEngine, schema: SchemaTexts): Promise<CompiledSchema> {
  const { statements, analyzed, numbered } = schema;
  const open = await gateEngine(wanted, statements);
  const key = JSON.stringify([wanted, analyzed, numbered, statements]);
  const known = shared.get(key);
  const compiled = known && !known.broken ? known : new CompiledSchema(open, schema);
  // Whoever works with one that goes at this moment finishes; the garbage collector closes it.
  shared.put(key, compiled);
  return compiled;
}
