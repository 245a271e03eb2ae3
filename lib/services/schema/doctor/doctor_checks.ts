// The doctor's table: one row for each thing that it looks for.
import { ambiguousColumnName } from "./ambiguous_column_name.ts";
import { brokenForeignKey } from "./broken_foreign_key.ts";
import { brokenObject } from "./broken_object.ts";
import type { Examined } from "./examined.ts";
import type { CheckCode, Found, Severity } from "./finding.ts";
import { integerTextMix } from "./integer_text_mix.ts";
import { missingDescription } from "./missing_description.ts";
import { missingPk } from "./missing_pk.ts";
import { publicMutation } from "./public_mutation.ts";
import { redundantIndexes } from "./redundant_indexes.ts";
import { reservedWordName } from "./reserved_word_name.ts";
import { ruleRenamedAround } from "./rule_renamed_around.ts";
import { sensitiveColumnExposed } from "./sensitive_column_exposed.ts";
import { unindexedForeignKey } from "./unindexed_foreign_key.ts";
import { untypedColumn } from "./untyped_column.ts";

export interface DoctorCheck {
  readonly severity: Severity;
  /** Pure; each finding's suggestion, when it has run, keeps the finding from coming back. */
  readonly find: (examined: Examined) => Found[];
}

/**
 * The order of the answer, in which all suggestions may be run: errors, then what gives tables another definition, what
 * stands on that, descriptions, which follow a name, and names. Otherwise worst first.
 */
export const doctorChecks: Readonly<Record<CheckCode, DoctorCheck>> = {
  sensitive_column_exposed: { severity: "error", find: sensitiveColumnExposed },
  broken_object: { severity: "error", find: brokenObject },
  broken_foreign_key: { severity: "error", find: brokenForeignKey },
  rule_renamed_around: { severity: "warning", find: ruleRenamedAround },
  public_mutation: { severity: "warning", find: publicMutation },
  missing_pk: { severity: "warning", find: missingPk },
  untyped_column: { severity: "info", find: untypedColumn },
  unindexed_foreign_key: { severity: "warning", find: unindexedForeignKey },
  integer_text_mix: { severity: "warning", find: integerTextMix },
  redundant_index: { severity: "warning", find: redundantIndexes },
  missing_description: { severity: "info", find: missingDescription },
  ambiguous_column_name: { severity: "info", find: ambiguousColumnName },
  reserved_word_name: { severity: "info", find: reservedWordName },
};
