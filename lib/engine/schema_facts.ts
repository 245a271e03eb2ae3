// What engine processes learn of the statements of a schema, for all databases that have the very same one: ten thousand
// tenants of one application learn once. Numbers of rows are each database's own.
import type { EngineFacts } from "../sql/grammar/statement_facts.ts";
import type { BoundedForms } from "./bounded_rows.ts";
import type { CompileConnection } from "./compile_connection.ts";
import { Learned } from "./rows_read/learned.ts";
import type { LookupReads } from "./rows_read/lookup_reads.ts";
import { RowsReadEstimates } from "./rows_read/rows_read.ts";

/** Schemas that are known at a time, and characters of the longest one. */
const MAX_SCHEMAS = 100;
const MAX_SCHEMA_LENGTH = 64 * 1024;
/** Characters of the longest schema that an engine process tells: a longer one takes longer to send than to compile for. */
const MAX_TOLD = 16 * 1024;

/** A read that has compiled with this schema, and its bounded forms. */
export interface KnownRead {
  readonly columns: readonly string[];
  readonly columnsJson: string;
  readonly forms: Pick<BoundedForms, "rowCount" | "texts">;
}

/** What is known of one schema. To be used only in a transaction that sees it. */
export class SchemaFacts {
  readonly estimates = new RowsReadEstimates();
  readonly reads = new Learned<KnownRead>();
  /** What look-ups read that end by themselves; null: the read is none (`lookupReads`). */
  readonly lookups = new Learned<LookupReads | null>();
  /** Lists that have run: one that never runs again, as with values in its text, is not worth a proof. */
  readonly lists = new Learned<true>();
  /** Of statements that compile and do not change the schema; with foreign keys on. */
  readonly inspected = new Learned<EngineFacts>();

  /** The schema itself; undefined where it is long. */
  readonly text: string | undefined;

  constructor(schema: string) {
    this.text = schema.length <= MAX_TOLD ? schema : undefined;
  }
}

/** By the schema itself rather than by a digest of it: no two can be taken for one. */
const known = new Map<string, SchemaFacts>();

/**
 * What is known of the schema that the connection's open transaction sees; null where it is not shared: virtual tables
 * compile by what their modules hold, tables of ANALYZE change how statements run, and text that is no UTF-8 could look
 * like another one.
 */
export function schemaFacts(connection: Pick<CompileConnection, "internalRow">): SchemaFacts | null {
  const schema = schemaText(connection);
  if (schema === null || schema.length > MAX_SCHEMA_LENGTH) return null;
  if (/CREATE VIRTUAL|sqlite_stat|\ufffd/i.test(schema)) return null;
  const facts = known.get(schema) ?? new SchemaFacts(schema);
  known.delete(schema);
  known.set(schema, facts);
  for (const oldest of known.keys()) {
    if (known.size <= MAX_SCHEMAS) break;
    known.delete(oldest);
  }
  return facts;
}

/** Every row in the engine's order, on which plans depend. */
function schemaText(connection: Pick<CompileConnection, "internalRow">): string | null {
  try {
    const [text] = connection.internalRow(
      "SELECT json_group_array(json_array(type, name, tbl_name, sql)) FROM " +
        "(SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid)",
    ) ?? [];
    return typeof text === "string" ? text : null;
  } catch {
    // A schema that holds something else than texts, or is damaged.
    return null;
  }
}
