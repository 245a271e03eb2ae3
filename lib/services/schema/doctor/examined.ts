// What the doctor's checks look at: everything is read before the first of them runs.
import type { RuleRecord } from "../../../store/write_records.ts";
import type { SchemaFacts } from "../schema_facts.ts";

export interface IndexFacts {
  readonly name: string;
  readonly unique: boolean;
  /** `c`: made by CREATE INDEX; otherwise it belongs to a UNIQUE or PRIMARY KEY of the table. */
  readonly origin: "c" | "u" | "pk";
  readonly partial: boolean;
  /** In order; a null name is an expression. */
  readonly columns: readonly { readonly name: string | null; readonly collation: string }[];
}

/** How a table was made, and what stands on it: texts of CREATE statements. */
export interface TableSource {
  readonly sql: string;
  readonly indexesAndTriggers: readonly string[];
}

/** Which kinds of values a column holds, as a sum of `valueBits`. */
export const valueBits = { integer: 1, real: 2, text: 4, blob: 8 } as const;

/** What the rows say; only of what was looked at (`row_probes.ts`). */
export interface RowFacts {
  /** By `probeKey(table, column)`. */
  readonly values: ReadonlyMap<string, number>;
  /** `probeKey(table, columns)` of foreign keys with rows whose target is not there. */
  readonly orphans: ReadonlySet<string>;
  /** `probeKey(table, columns)` of column lists that several rows have the same values in. */
  readonly duplicates: ReadonlySet<string>;
}

/** A published endpoint, as far as the checks need it. */
export interface EndpointFacts {
  readonly slug: string;
  readonly kind: string;
  readonly auth: string;
  readonly captcha: boolean;
  readonly rateLimit: boolean;
  /** Columns that an answer shows. */
  readonly columns: readonly string[];
  /** Tables that the statement touches, the written one first. */
  readonly tables: readonly string[];
  /** The whole spec, for a suggestion that replaces it. */
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface Address {
  readonly namespaceSlug: string;
  /** `<slug>` or `<slug>@<ref>`, as the caller addressed it. */
  readonly databasePath: string;
}

/** What cannot be used, whatever is asked of it. */
export interface BrokenObject {
  readonly type: "table" | "view" | "trigger";
  readonly name: string;
  /** That it stands on; its own name but of a trigger. */
  readonly table: string;
  /** In the engine's words. */
  readonly error: string;
  /** It cannot even be dropped. */
  readonly stuck: boolean;
}

export interface Examined {
  readonly schema: SchemaFacts;
  /** By table name. */
  readonly indexes: ReadonlyMap<string, readonly IndexFacts[]>;
  readonly sources: ReadonlyMap<string, TableSource>;
  /** Names of all tables, views, indexes and triggers, folded. */
  readonly takenNames: ReadonlySet<string>;
  readonly rows: RowFacts;
  readonly broken: readonly BrokenObject[];
  readonly rules: readonly RuleRecord[];
  readonly endpoints: readonly EndpointFacts[];
  readonly address: Address;
}

/** Names hold no U+0000, so that the key tells its parts apart. */
export function probeKey(table: string, ...columns: readonly string[]): string {
  return [table, ...columns].join("\u0000");
}
