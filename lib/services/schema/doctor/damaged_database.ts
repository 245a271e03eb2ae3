// What the doctor says of a database whose file cannot be read: nothing else can be found out then.
import { AppError } from "../../../core/errors.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { databaseCall } from "./api_call.ts";
import type { Address } from "./examined.ts";
import type { Finding } from "./finding.ts";

export function isDamaged(error: unknown): boolean {
  return error instanceof AppError && error.code === "database_corrupt";
}

/** Suggests the newest snapshot, which a restore checks before it changes anything; without one, a look at the list. */
export async function damagedDatabase(
  { tenants, target }: StatementsContext,
  address: Address,
): Promise<Finding> {
  const [newest] = await tenants.open(target.databaseId, target.namespaceId).snapshots();
  return {
    code: "damaged_database",
    severity: "error",
    table: "",
    column: null,
    message: "The database file is damaged or missing; a restore needs its snapshot only",
    suggestion: newest === undefined
      ? `GET /v1/db/${address.namespaceSlug}/${address.databasePath}/snapshots`
      : databaseCall(address, "POST", "restore", { snapshot: newest.label }),
  };
}
