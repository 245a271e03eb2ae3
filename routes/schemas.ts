// Forms that several routes share: what validates a request is what documents it.
import { z } from "zod";
import { SLUG_PATTERN } from "../lib/access/slug.ts";
import { roles } from "../lib/core/role.ts";

export const slug = z.string().regex(SLUG_PATTERN);
export const displayName = z.string().min(1).max(200);
export const role = z.enum(roles);
/** Dollars: at least `min`, at most what a balance can hold. */
export function usd(min: number): z.ZodNumber {
  return z.number().min(min).max(9_000_000);
}

/** ISO 8601 in, unix milliseconds out. */
export const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

export const isoTimestamp = z.string().describe("ISO 8601");

/** One row of a token's scopes. */
export const scopeRow = z.strictObject({
  databaseId: z.string().max(64),
  branchRef: z.string().max(64).describe("main for the trunk"),
  role,
});

export const page = z.strictObject({
  cursor: z.string().max(64).optional().describe("nextCursor of the page before"),
  pageSize: z.coerce.number().int().min(1).max(500).default(100),
});

/** A rule that a write matches. */
export const ruleHit = z.object({
  ruleId: z.string(),
  tableGlob: z.string(),
  effect: z.enum(["require_approval", "deny"]),
  table: z.string(),
  action: z.enum(["insert", "update", "delete", "schema"]),
  note: z.string().nullable(),
});

/** An approval as whoever asked for it sees it. */
export const approvalRecord = z.object({
  id: z.string(),
  state: z.enum(["pending", "approved", "denied", "redeemed", "expired"]),
  hits: z.array(ruleHit),
  createdAt: z.string(),
  expiresAt: z.string(),
  decidedAt: z.string().nullable(),
  reason: z.string().nullable(),
});

export const pageMeta = z.object({ nextCursor: z.string().nullable() });
export const confirmBody = z.strictObject({ confirm: z.string().max(64).describe("The slug, once more") });
export const rename = z.strictObject({ name: displayName });
