// A schema in memory with what is known of statements in it. Databases whose schemas are the same, text by text, share it:
// a thousand tenants of one application are one schema.
import type { EngineFacts } from "../../../sql/statement_facts.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import { makeSchema } from "../../../engine/make_schema.ts";
import { Expansion } from "./expansion.ts";
import { type GateEngine, gateEngine } from "./gate_engine.ts";
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
/** Statements known of one schema. */
const MAX_KNOWN = 1000;
/** Characters from which a text is long: it is kept for a moment at most. */
const LONG_TEXT = 10_000;
/** Characters of all long texts that are kept, more than one call has. */
const MAX_LONG = 16_000_000;
/** Schemas that are kept for the next database that has them. */
const MAX_SCHEMAS = 50;

/** Whoever works on `connection` leaves the schema as it is. */
export class CompiledSchema {
  readonly connection: SchemaConnection;
  readonly expansion: Expansion;
  /** Decisions about statements under levels, by both. */
  readonly gates = new Known<EngineFailure | null>();
  /** Facts of statements that change no schema, with foreign keys, by text. */
  readonly facts = new Known<EngineFacts>(true);
  /** Texts that do more than insert one row. */
  readonly doMore = new Known<boolean>();

  constructor(private readonly open: OpenSchemaConnection, private readonly schema: SchemaTexts) {
    this.connection = this.copy();
    this.expansion = new Expansion(schema.statements);
  }

  /** The schema once more, for work that changes it; the caller closes it. */
  copy(): SchemaConnection {
    const connection = this.open();
    if (this.schema.numbered) connection.exec(NUMBERED);
    makeSchema(connection, this.schema.statements, (error) => {
      // What this engine cannot read does not exist here, and is thereby closed.
      if (error instanceof TypeError) throw error;
    });
    if (this.schema.analyzed) connection.exec("ANALYZE");
    return connection;
  }
}

class Known<T> {
  readonly #values = new Map<string, T>();

  /** `keepsLong`: what is said of a long text is asked for again by the same call. */
  constructor(private readonly keepsLong = false) {}

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    const long = key.length >= LONG_TEXT;
    if (long && !this.keepsLong) return;
    if (this.#values.size >= MAX_KNOWN) this.#values.clear();
    this.#values.set(key, value);
    if (long) longTexts.add(key, () => this.#values.delete(key));
  }
}

/** The long texts that are kept, whichever schema they are of: the oldest goes first. */
class LongTexts {
  readonly #kept: { readonly length: number; readonly forget: () => void }[] = [];
  #length = 0;

  add({ length }: string, forget: () => void): void {
    this.#kept.push({ length, forget });
    this.#length += length;
    while (this.#length > MAX_LONG) {
      const oldest = this.#kept.shift();
      oldest?.forget();
      this.#length -= oldest?.length ?? 0;
    }
  }
}

const longTexts = new LongTexts();

/** By all texts rather than by a digest of them: no two can be taken for one. The longest unused one first. */
const shared = new Map<string, CompiledSchema>();

/** The schema as every database has it that has the same texts. Errors: those of `gateEngine`. */
export async function compiledSchema(wanted: GateEngine, schema: SchemaTexts): Promise<CompiledSchema> {
  const { statements, analyzed, numbered } = schema;
  const open = await gateEngine(wanted, statements);
  const key = JSON.stringify([wanted, analyzed, numbered, statements]);
  const known = shared.get(key);
  const compiled = known && !known.connection.broken ? known : new CompiledSchema(open, schema);
  shared.delete(key);
  shared.set(key, compiled);
  for (const oldest of shared.keys()) {
    if (shared.size <= MAX_SCHEMAS) break;
    // Whoever works with it at this moment finishes; the garbage collector closes it.
    shared.delete(oldest);
  }
  return compiled;
}
