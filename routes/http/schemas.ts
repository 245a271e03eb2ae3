// Schemas that several routes share: what validates a request also documents it.
import { z } from "zod";
import { SLUG_PATTERN } from "../../lib/access/slug.ts";
import { MAX_EMAIL_LENGTH } from "../../lib/core/limits.ts";
import { roles } from "../../lib/core/role.ts";
import { nameText, plainText } from "../../lib/core/text_checks.ts";

/** A slug. */
export const slug = z.string().regex(
  SLUG_PATTERN,
  "Send up to 41 lower-case letters, digits and hyphens, a letter first",
);
/** The slug of a new database: `restore` is a word of the API at the same position of a path. */
export const newSlug = slug.refine(
  (text) => text !== "restore",
  "Choose another slug; restore is a call of the API",
);
/** Characters of a reason. */
export const MAX_REASON_LENGTH = 1000;
/** Why somebody denies a write: whoever asked for it reads this. */
export const denialReason = z.string().max(MAX_REASON_LENGTH).check(plainText);
/** A name for people. */
export const displayName = z.string().min(1).max(200).check(nameText);
/** An address of a person. */
export const emailAddress = z.email("Send an address such as ada@example.com").max(MAX_EMAIL_LENGTH);
/** What the owner of a passkey calls it. */
export const passkeyName = z.string().min(1).max(100).check(nameText);
/** What `navigator.credentials` answers, as its JSON form; more is looked at by whoever checks the signature. */
export const passkeyAnswer = z.looseObject({
  id: z.string().max(2048),
  response: z.looseObject({ userHandle: z.string().max(128).optional() }),
});
/** A role. */
export const role = z.enum(roles);
/** Whole seconds between bounds. */
export function secondsIn({ least, most }: { readonly least: number; readonly most: number }): z.ZodInt {
  return z.int().min(least).max(most);
}

/** Dollars from `min` to what a balance can hold. */
export function usd(min: number): z.ZodNumber {
  return z.number().min(min).max(9_000_000);
}

/** The most that may be spent in a month. A balance counts in billionths: less than one would be none, which stops all calls. */
export const monthlyCap = usd(0).refine((amount) => amount === 0 || amount >= 1e-9, {
  error: "Send at least 0.000000001, or 0 to stop all calls",
});

/** A time as ISO 8601. */
export function timeText(example: string): z.ZodISODateTime {
  const error = `Send an ISO 8601 time with Z or an offset, such as ${example}`;
  return z.iso.datetime({ offset: true, error }).meta({ examples: [example] });
}

/** A time: ISO 8601 in, unix milliseconds out. Not for a body: what transforms is described without examples. */
export function time(example: string): z.ZodType<number, string> {
  return timeText(example).transform((text) => Date.parse(text));
}

/** A time in an answer. */
export const isoTimestamp = z.string().describe("ISO 8601");

/** One scope of a token. */
export const scopeRow = z.strictObject({
  databaseId: z.string().max(64).describe(
    "Of the database, or of a branch; a row for a branch holds until the branch is reset, claimed anew or gone",
  ),
  branchRef: z.string().max(64).describe("main for the trunk"),
  role,
});

/** A scope to give: the database by its id or by its slug; what is left out is the trunk, and the role of the token. */
export const scopeInput = z.strictObject({
  databaseId: scopeRow.shape.databaseId.optional(),
  databaseSlug: z.string().max(128).optional().describe("In place of the id; of a branch <slug>@<ref>"),
  branchRef: scopeRow.shape.branchRef.optional(),
  role: role.optional().describe("Unset: that of the token"),
});

/** What kind of SQL failure it was, and where. */
export const errorDetail = z.object({
  kind: z.string(),
  table: z.string().nullable(),
  column: z.string().nullable(),
  hint: z.string(),
  columns: z.array(z.string()).optional(),
});

/** For a GET without query parameters. */
export const noQuery = z.strictObject({});

/** The page of a list. */
export const page = z.strictObject({
  cursor: z.string().max(64).optional().describe("nextCursor of the page before"),
  pageSize: z.coerce.number().int().min(1).max(500).default(100),
});

/** The query of a list whose entries have slugs. */
export const slugPage = page.extend({
  prefix: slug.optional().describe("Only entries whose slugs begin so, in the order of their slugs"),
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

/** An approval as its caller sees it. */
export const approvalRecord = z.object({
  id: z.string(),
  state: z.enum(["pending", "approved", "denied", "redeemed", "expired"]),
  hits: z.array(ruleHit),
  createdAt: z.string(),
  expiresAt: z.string(),
  decidedAt: z.string().nullable(),
  reason: z.string().nullable(),
});

/** `meta` of a list. */
export const pageMeta = z.object({ nextCursor: z.string().nullable() });
/** For `refine`: a change that changes nothing is a mistake. */
export const someChange = [
  (change: object) => Object.keys(change).length > 0,
  "Send at least one field to change",
] as const;
/** The body of a deletion; `example` is the slug of an example. */
export function confirmBody(example: string): z.ZodObject<{ confirm: z.ZodString }, z.core.$strict> {
  const missing = "Add this field with the slug of what is deleted, once more";
  const error = ({ input }: { readonly input?: unknown }) => input === undefined ? missing : undefined;
  const confirm = z.string({ error }).max(64).describe("The slug, once more");
  return z.strictObject({ confirm }).meta({ examples: [{ confirm: example }] });
}
/** A new name. */
export const rename = z.strictObject({ name: displayName }).meta({ examples: [{ name: "The shop" }] });

/** `state` of a database or a branch. */
export const databaseState = z.enum(["ok", "corrupt", "unavailable"]).describe(
  "corrupt: the file is damaged or missing, restore a snapshot; unavailable: the store does not answer for it now",
);

/** A database as its owner sees it. */
export const databaseRecord = z.object({
  id: z.string(),
  slug,
  name: z.string(),
  branchRef: z.string(),
  createdAt: isoTimestamp,
  sizeBytes: z.int(),
  state: databaseState,
});

/** The label of a snapshot that somebody takes. */
export const snapshotLabel = z.string().regex(/^(?!auto-)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);

/** A BLOB in JSON. */
export const blob = z.strictObject({ $blob: z.base64().describe("Bytes as base64") });

/** A value of a result. */
export const sqlValue = z.union([z.string(), z.number(), z.null(), blob]);

/** The rows that a write changes, as they are shown before somebody decides. */
export const rowPreview = z.object({
  table: z.string(),
  columns: z.array(z.string()),
  keys: z.array(z.string()).describe("Columns of the primary key; empty where the table has none"),
  before: z.array(z.array(sqlValue)),
  after: z.array(z.array(sqlValue)).describe("Empty for DELETE"),
});
