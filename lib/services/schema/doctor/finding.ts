// One thing that the doctor has to say.

export type Severity = "error" | "warning" | "info";

/** What the checks of the table find; `damaged_database` is said when none of them can run. */
export type FindingCode = CheckCode | "damaged_database";

export type CheckCode =
  | "missing_pk"
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
  | "public_mutation"
  | "rule_renamed_around";

/** What a check finds; code and severity are its row's. */
export interface Found {
  readonly table: string;
  readonly column: string | null;
  readonly message: string;
  /** One SQL statement for `query`, or a call as `METHOD path body` where it takes more than one. */
  readonly suggestion: string;
}

export interface Finding extends Found {
  readonly code: FindingCode;
  readonly severity: Severity;
}
