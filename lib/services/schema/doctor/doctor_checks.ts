// The doctor's table: one row for each check. Runs them all.
import { ownTurn } from "../../../core/own_turn.ts";
import { emailCase, plainPassword } from "./account_checks.ts";
import type { CheckCode, Examined, Finding, Found, Severity } from "./examined.ts";
import { brokenObject } from "./find_broken.ts";
import { brokenForeignKey, unindexedForeignKey } from "./foreign_key_checks.ts";
import { ambiguousColumnName, reservedWordName } from "./name_checks.ts";
import {
  publicMutation,
  ruleRenamedAround,
  ruleWithoutTable,
  sensitiveColumnExposed,
  usersRowsOpen,
} from "./safety_checks.ts";
import {
  findUnnumberedKeys,
  integerTextMix,
  missingDescription,
  missingPk,
  redundantIndexes,
  untypedColumn,
} from "./table_checks.ts";

/** A check of the table. */
export interface DoctorCheck {
  readonly severity: Severity;
  /**
   * Pure. Once the suggestion of a finding has run, the finding does not come back. Those with long suggestions are made one by one,
   * as they are taken.
   */
  readonly find: (examined: Examined) => Iterable<Found>;
}

/**
 * The order of the answer, in which all suggestions may be run: errors first, then new definitions of tables, what
 * depends on these, descriptions (which follow a name), and names. Otherwise the worst comes first.
 */
const doctorChecks: Readonly<Record<CheckCode, DoctorCheck>> = {
  sensitive_column_exposed: { severity: "error", find: sensitiveColumnExposed },
  plain_password: { severity: "error", find: plainPassword },
  broken_object: { severity: "error", find: brokenObject },
  broken_foreign_key: { severity: "error", find: brokenForeignKey },
  rule_without_table: { severity: "warning", find: ruleWithoutTable },
  rule_renamed_around: { severity: "warning", find: ruleRenamedAround },
  public_mutation: { severity: "warning", find: publicMutation },
  users_rows_open: { severity: "warning", find: usersRowsOpen },
  email_case: { severity: "warning", find: emailCase },
  missing_pk: { severity: "warning", find: missingPk },
  unnumbered_key: { severity: "warning", find: findUnnumberedKeys },
  untyped_column: { severity: "info", find: untypedColumn },
  unindexed_foreign_key: { severity: "warning", find: unindexedForeignKey },
  integer_text_mix: { severity: "warning", find: integerTextMix },
  redundant_index: { severity: "warning", find: redundantIndexes },
  missing_description: { severity: "info", find: missingDescription },
  ambiguous_column_name: { severity: "info", find: ambiguousColumnName },
  reserved_word_name: { severity: "info", find: reservedWordName },
};

/**
 * Characters of the findings of one check. Thousands of them may have the same long suggestion, to write a table anew; the others
 * are found once it has run.
 */
const MAX_CHARACTERS = 1_000_000;
/** Characters after which other work has its turn: a millisecond or two. */
const A_TURN = 50_000;

/**
 * Runs every check, with other work of the service between them. Findings come in the order of the table, then of the schema.
 */
export async function diagnose(examined: Examined): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const code of codes()) {
    const { severity, find } = doctorChecks[code];
    let [characters, sinceTurn] = [0, 0];
    for (const found of find(examined)) {
      const length = found.message.length + found.suggestion.length;
      findings.push({ code, severity, ...found });
      [characters, sinceTurn] = [characters + length, sinceTurn + length];
      if (characters > MAX_CHARACTERS) break;
      if (sinceTurn < A_TURN) continue;
      sinceTurn = 0;
      await ownTurn();
    }
    await ownTurn();
  }
  return findings;
}

/** Guarantee: the keys of the table are its type's. */
function codes(): CheckCode[] {
  return Object.keys(doctorChecks) as CheckCode[];
}
