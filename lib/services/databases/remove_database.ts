// Takes a database away: its record first, so that nobody finds it, then its storage.
import type { DatabaseRecord } from "../../store/records.ts";
import type { ManageContext } from "../manage_context.ts";
import { dropUnused } from "./drop_unused.ts";

/** What cannot go now has left a note that a sweep finds. */
export async function removeDatabase(
  ctx: Pick<ManageContext, "control" | "tenants">,
  record: DatabaseRecord,
): Promise<void> {
  await ctx.control.databases.remove(record);
  await ctx.control.endpoints.removeAll(record.id);
  await dropUnused(ctx, record.id);
}
