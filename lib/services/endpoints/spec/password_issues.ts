// No statement of an endpoint saves a password as its caller has sent it.
import type { Issue } from "../../../core/errors.ts";
import { isFedByPlaceholder } from "../../../sql/grammar/fed_by_placeholder.ts";
import { foldName } from "../../../sql/words/names.ts";
import type { StatementFacts } from "../../../sql/grammar/statement_facts.ts";
import type { SchemaNames } from "../../../tenant/inspection.ts";
import { bindInputs } from "./bind_inputs.ts";
import type { SpecParts } from "./spec_parts.ts";
import { PASSWORD_COLUMN } from "./users_table.ts";

/** `facts` are those of each statement, in their order. A sign-up hashes its password before it is bound. */
export function passwordIssues(
  spec: SpecParts,
  facts: readonly StatementFacts[],
  tables: SchemaNames["tables"],
): Issue[] {
  if (spec.kind !== "mutation") return [];
  const bound = bindInputs(spec);
  if (!bound.ok) return [];
  const isPlain = bound.statements.some(({ sql }, at) => {
    const target = foldName(facts[at]?.target ?? "");
    const columns = tables.find(({ name }) => foldName(name) === target)?.columns ?? [];
    return isFedByPlaceholder(sql, PASSWORD_COLUMN, columns);
  });
  if (!isPlain) return [];
  return [{
    path: "sql",
    message: `Leave ${PASSWORD_COLUMN} out, or write a constant: an input would be kept as it is sent. ` +
      "auth_signup, auth_password and auth_reset hash it",
  }];
}
