// What the query log says of a restore.
import { newId } from "../../core/ids.ts";
import type { LogIdentity } from "../../tenant/tenant_store.ts";
import type { SnapshotContext } from "./snapshot_context.ts";

/** For the log of the database that has the state afterwards. */
export function restoreLog(
  { clock, target, token }: SnapshotContext,
  { databaseId, snapshot }: { readonly databaseId: string; readonly snapshot: string },
): LogIdentity {
  const now = clock.now();
  const { namespaceId, databaseSlug } = target;
  return {
    ...{ id: newId("qry", now), ts: now, namespaceId, databaseId, tokenId: token.tokenId, userId: null },
    ...{ operation: "restore", statementCount: 1, sql: `-- snapshot ${snapshot} of ${databaseSlug}` },
  };
}
