// What the owner of a database decides about a webhook, for the API and the console.
import { z } from "zod";
import { webhookEvents } from "../../lib/store/changes_records.ts";

const url = z.string().min(1).max(2000).describe("https, by a name of the public network");
const events = z.array(z.enum(webhookEvents)).min(1).max(webhookEvents.length);
/** Characters of all names: records of the control plane are bounded. */
const MAX_NAMES_LENGTH = 20_000;
const tables = z.array(z.string().min(1).max(1000)).min(1).max(100).refine(
  (names) => names.join("").length <= MAX_NAMES_LENGTH,
  `Name fewer tables, or none for all; the names take ${MAX_NAMES_LENGTH} characters together at most`,
).nullable().describe("Tables whose changes are told; null: all");

/** The members of a webhook that its owner decides. */
export const webhookMembers = { url, events, tables } as const;
/** A new webhook. */
export const webhookSettings = z.strictObject({ url, events, tables: tables.optional() }).meta({
  examples: [{ url: "https://app.example/hooks", events: ["change"], tables: ["orders"] }],
});
