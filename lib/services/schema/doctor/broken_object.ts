// Views, triggers and virtual tables that cannot be used, because what they are made of is gone.
import { quoteIdentifier } from "../../../sql/quote.ts";
import type { BrokenObject, Examined } from "./examined.ts";
import type { Found } from "./finding.ts";

export function brokenObject({ broken, address }: Examined): Found[] {
  return broken.map((one) => ({
    table: one.table,
    column: null,
    message: `${one.stuck ? "Restore a snapshot from before" : "Bring back what is missing, or drop"} the ${
      wordsFor(one)
    }, which cannot be used: ${one.error}`,
    suggestion: one.stuck
      ? `GET /v1/db/${address.namespaceSlug}/${address.databasePath}/snapshots`
      : `DROP ${one.type.toUpperCase()} ${quoteIdentifier(one.name)}`,
  }));
}

function wordsFor({ type, name, table }: BrokenObject): string {
  return type === "trigger" ? `trigger ${name} of ${table}` : `${type} ${name}`;
}
