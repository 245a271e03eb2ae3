// Which calls an engine child has to run so that it counts their broken references.
import type { Connection } from "../../../engine/connection.ts";
import { BREAKABLE, DeferredReferences, DEFERS } from "../../calls/deferred_references.ts";
import type { WireCall } from "./protocol.ts";

/** Whether a table has a foreign key that the engine checks at a commit only. */
export function defersReferences(connection: Connection): boolean {
  return connection.internalRow(`SELECT 1 FROM sqlite_schema WHERE ${DEFERS} LIMIT 1`) !== undefined;
}

/** Null where the call can break none. */
export function watchDeferred(
  connection: Connection,
  { level, foreignKeysOff, auditTables }: Pick<WireCall, "level" | "foreignKeysOff" | "auditTables">,
): DeferredReferences | null {
  if (foreignKeysOff) return null;
  const written = auditTables ?? "[]";
  // What changes the schema may make one.
  const mayBreak = level === "schema" || connection.internalRow(BREAKABLE, written) !== undefined;
  return mayBreak ? new DeferredReferences({ level, written }) : null;
}
