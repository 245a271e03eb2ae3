// Rules that an admin token gets around by renaming the table.
import { ruleWarnings } from "../../rules/rename_warnings.ts";
import { databaseApiCall } from "./api_call.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";

export function ruleRenamedAround({ rules, address }: Examined): Found[] {
  return rules.flatMap((rule) =>
    ruleWarnings(rule, rules).map(({ message }) => ({
      table: rule.tableGlob,
      column: null,
      message,
      suggestion: databaseApiCall(address, "PATCH", `rules/${rule.id}`, {
        actions: [...rule.actions ?? [], "schema"],
      }),
    }))
  );
}
