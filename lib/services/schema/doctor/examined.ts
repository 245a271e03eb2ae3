// The vocabulary of the doctor: what was read for its checks before the first of them runs, and what they find.
import type { RuleRecord } from "../../../store/write_records.ts";
import type { IndexFacts } from "../read_indexes.ts";
import type { SchemaFacts, TableFacts } from "../schema_facts.ts";
import type { TargetPath } from "../../../access/resolve_target.ts";

/** The CREATE statements of a table, and of its indexes and triggers. */
export interface TableSource {
  readonly sql: string;
  readonly indexesAndTriggers: readonly string[];
}

/** Which kinds of values a column holds, as a sum of `valueBits`. */
export const valueBits = { integer: 1, real: 2, text: 4, blob: 8 } as const;

/** What the rows show, as far as `row_probes.ts` has read them. */
export interface RowFacts {
  /** By `probeKey(table, column)`. */
  readonly values: ReadonlyMap<string, number>;
  /** `probeKey(table, columns)` of foreign keys that have rows without a target. */
  readonly orphans: ReadonlySet<string>;
  /** `probeKey(table, columns)` of column lists with equal values in several rows. */
  readonly duplicates: ReadonlySet<string>;
  /** Users tables that hold what is no hash of a password. */
  readonly plain: ReadonlySet<string>;
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
  /** What its statements name to write, each with whether they change or delete rows that are there. */
  readonly writes: readonly { readonly table: string; readonly changesRows: boolean }[];
}

/** A table, view or trigger that cannot be used at all. */
export interface BrokenObject {
  readonly type: "table" | "view" | "trigger";
  readonly name: string;
  /** The table of a trigger; otherwise its own name. */
  readonly table: string;
  /** In the engine's words. */
  readonly error: string;
  /** It cannot even be dropped. */
  readonly stuck: boolean;
}

/** All that the checks may use. */
export interface Examined {
  readonly schema: SchemaFacts;
  /** The schema's tables by their folded names: one of ten thousand is asked for ten thousand times. */
  readonly byName: ReadonlyMap<string, TableFacts>;
  /** By table name. */
  readonly indexes: ReadonlyMap<string, readonly IndexFacts[]>;
  readonly sources: ReadonlyMap<string, TableSource>;
  /** Names of all tables, views, indexes and triggers, folded. */
  readonly takenNames: ReadonlySet<string>;
  readonly rows: RowFacts;
  readonly broken: readonly BrokenObject[];
  readonly rules: readonly RuleRecord[];
  readonly endpoints: readonly EndpointFacts[];
  /** As the caller addressed it. */
  readonly address: TargetPath;
}

/** A key for a table and its columns. Names contain no U+0000, so the key is unambiguous. */
export function probeKey(table: string, ...columns: readonly string[]): string {
  return [table, ...columns].join("\u0000");
}

/** How urgent a finding is. */
export type Severity = "error" | "warning" | "info";

/** The codes of the checks, and `damaged_database` for a database that no check can read. */
type FindingCode = CheckCode | "damaged_database";

/** One code for each check of the table of checks. */
export type CheckCode =
  | "missing_pk"
  | "unnumbered_key"
  | "ambiguous_column_name"
  | "unindexed_foreign_key"
  | "broken_foreign_key"
  | "broken_object"
  | "redundant_index"
  | "integer_text_mix"
  | "untyped_column"
  | "missing_description"
  | "reserved_word_name"
  | "sensitive_column_exposed"
  | "plain_password"
  | "email_case"
  | "public_mutation"
  | "users_rows_open"
  | "rule_renamed_around"
  | "rule_without_table";

/** What a check finds. Code and severity come from the check's row. */
export interface Found {
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
  /** One SQL statement for `query`; where it takes more, a call as `METHOD path body`. */
  readonly suggestion: string;
}

/** A finding as the API shows it. */
export interface Finding extends Found {
  readonly code: FindingCode;
  readonly severity: Severity;
}
