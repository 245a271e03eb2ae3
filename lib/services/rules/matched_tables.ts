// Which tables the globs of rules mean now: a rule holds for tables that come later too.
import { matchesGlob } from "../../query/matches_glob.ts";
import { type DatabaseAddress, readableDatabase } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";

/** Names of the tables and views of a database, by glob. */
export type MatchedTables = (glob: string) => readonly string[];

/** Reads the names once for all globs. Errors: those of `readableDatabase`, and of a store that does not answer. */
export async function matchedTables(ctx: ManageContext, address: DatabaseAddress): Promise<MatchedTables> {
  const { id, namespaceId } = await readableDatabase(ctx, address);
  const { tables } = await ctx.tenants.open({ databaseId: id, namespaceId }).schema();
  const names = tables.filter(({ kind }) => kind !== "shadow").map(({ name }) => name);
  return (glob) => names.filter((name) => matchesGlob(glob, name));
}
