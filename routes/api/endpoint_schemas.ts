// Schemas of the endpoint routes, and the reading of a specification.
import type { Context } from "hono";
import { z } from "zod";
import { type EndpointSpec, endpointSpec } from "../../lib/core/endpoint_spec.ts";
import { invalidInput } from "../../lib/core/errors.ts";
import { MAX_SPEC_BODY_BYTES } from "../../lib/core/limits.ts";
import { parseJson } from "../../lib/guard/parse_json.ts";
import type { UncheckedSpec } from "../../lib/services/endpoints/spec/check_spec.ts";
import type { Env } from "../http/env.ts";
import { isoTimestamp, time } from "../http/schemas.ts";
import { bodyText } from "../middleware/body_text.ts";
import { issuesOf } from "../middleware/issues.ts";
import { isObject } from "../../lib/core/json_of.ts";

/** The status of an endpoint. */
const endpointStatus = z.enum(["draft", "published", "paused"]);

/** An endpoint as its owner sees it. */
export const endpointRecord = endpointSpec.extend({
  status: endpointStatus,
  revision: z.int(),
  createdAt: isoTimestamp,
  updatedAt: isoTimestamp,
  url: z.string(),
});

/** A revision of an endpoint. */
export const endpointRevision = z.object({
  revision: z.int(),
  at: isoTimestamp,
  actor: z.string().describe("Id of the API token, or operator"),
  change: z.enum(["created", "updated", "status", "restored", "deleted"]),
  spec: endpointSpec,
  status: endpointStatus,
});

/** Which table to make endpoints of. */
export const scaffoldBody = z.strictObject({
  table: z.string().min(1).max(1000).describe("A table or view of the database"),
  operations: z.array(
    z.enum([
      ...["list", "get", "create", "update", "delete", "search", "signup", "login", "me"] as const,
      ...["password", "logout", "refresh", "reset", "verify"] as const,
    ]),
  ).max(14).optional().describe("All five unless given; for an app all that the table can have"),
  shape: z.enum(["basic", "app"]).optional().describe(
    "app: pages with an order and filters, rows as answers, defaults, owners, accounts and search",
  ),
  owner: z.string().min(1).max(1000).optional().describe(
    "A column with the key of a user: rows are seen and written by their user only",
  ),
  cors: endpointSpec.shape.cors.describe("Origins whose pages may read the answers"),
  publish: z.boolean().optional().describe("Serve them at once; drafts unless true"),
  resetUrl: z.string().max(500).optional().describe(
    "For reset: the page of the app that takes the link of the mail",
  ),
  verifyUrl: z.string().max(500).optional().describe("For verify: the same"),
}).meta({ examples: [{ table: "orders", operations: ["list", "get"] }] });

/** What was made, and what was not and why. */
export const scaffoldResult = z.object({
  ok: z.literal(true),
  data: z.object({
    created: z.array(endpointRecord),
    skipped: z.array(z.object({ slug: z.string(), reason: z.string() })),
  }),
});

/** A call to try an endpoint. */
export const testBody = z.strictObject({
  input: z.record(z.string(), z.unknown()).optional().describe("As a caller would send it"),
  session: z.strictObject({
    userId: z.string().min(1).max(256),
    email: z.string().max(320).optional(),
  }).optional().describe("The session of a simulated caller"),
}).meta({ examples: [{ input: { id: 1 } }] }).prefault({});

/** What that call would answer. */
export const testResult = z.object({
  status: z.int(),
  body: z.unknown().describe("As /p would answer"),
  cause: z.unknown().describe("The failure as the owner is told it, where /p tells less").optional(),
});

/** A span of time. */
export const statsQuery = z.strictObject({
  from: time("2026-11-01T00:00:00Z").optional().describe(
    "Inclusive; 24 hours before `to` unless given. At most 31 days before it",
  ),
  to: time("2026-11-08T00:00:00Z").optional().describe("Exclusive; now unless given"),
});

/** One hour in which there were calls. */
export const hourStats = z.object({
  from: isoTimestamp.describe("When the hour begins, ISO 8601"),
  calls: z.int(),
  byStatus: z.record(z.string(), z.int()).describe("Calls by HTTP status, refused ones too"),
  rowsRead: z.int(),
  rowsWritten: z.int(),
  durationAvgMs: z.number(),
  durationMaxMs: z.number(),
});

/**
 * A specification with what is wrong with its form. The service adds what only the database can tell, so that one answer
 * names everything.
 */
export function uncheckedSpec(raw: unknown): UncheckedSpec {
  return { raw, issues: issuesOf(endpointSpec, raw) };
}

/** The specification in a body. Errors: `invalid_json`, `payload_too_large`, `request_timeout`. */
export async function sentSpec(c: Context<Env>): Promise<UncheckedSpec> {
  return uncheckedSpec(parseJson(await bodyText(c, MAX_SPEC_BODY_BYTES)));
}

const beside = { status: true, revision: true, createdAt: true, updatedAt: true, url: true } as const;

/** A specification that takes the place of another, as the documentation has it: what was read can be sent back. */
export const specReplacement = endpointRecord.partial(beside).extend({
  revision: z.int().optional().describe("As it was read; refused when it has passed meanwhile"),
}).meta(endpointSpec.meta() ?? {});

/** Members of a specification that change, as the documentation has them. */
export const specPatch = z.strictObject(patchMembers(specReplacement))
  .describe("What is left out stays; null takes a member away; objects are merged, lists replaced")
  .meta({ minProperties: 1, examples: [{ captcha: true, rateLimit: { perDay: 100 }, cacheSec: null }] });

/** The form of a JSON merge patch of what has the form `form`. */
function patchOf(form: z.core.$ZodType): z.core.$ZodType {
  if (form instanceof z.ZodRecord) return z.record(z.string(), z.union([form.valueType, z.null()]));
  return form instanceof z.ZodObject ? z.strictObject(patchMembers(form)) : form;
}

function patchMembers({ shape }: z.ZodObject): Record<string, z.ZodOptional> {
  const members = Object.entries(shape).map(([name, member]) => {
    if (!(member instanceof z.ZodOptional)) return [name, z.optional(patchOf(member))] as const;
    const patch = z.optional(z.union([patchOf(member.unwrap()), z.null()]));
    return [name, member.description === undefined ? patch : patch.describe(member.description)] as const;
  });
  return Object.fromEntries(members);
}

/**
 * Reads what a PATCH changes: the function makes the whole specification of the present one. Errors: as
 * `sentSpec`, and `validation_failed` for what changes nothing.
 */
export async function patchedSpec(c: Context<Env>): Promise<(present: EndpointSpec) => UncheckedSpec> {
  const patch = parseJson(await bodyText(c, MAX_SPEC_BODY_BYTES));
  if (!isObject(patch) || Object.keys(patch).length === 0) {
    throw invalidInput("", "Send an object here, with the members that change");
  }
  return (present) => {
    const marked = merged(present, patch, MAX_DEPTH);
    return { ...uncheckedSpec(marked), raw: withoutGone(marked) };
  };
}

/** Objects within a specification: a deeper one is refused as it is. */
const MAX_DEPTH = 4;

/**
 * A JSON merge patch, https://www.rfc-editor.org/rfc/rfc7396. What goes is undefined, so that a member which there cannot be is
 * refused, though it is taken away.
 */
function merged(present: unknown, patch: unknown, depth: number): unknown {
  if (!isObject(patch) || depth === 0) return patch;
  const members = new Map(isObject(present) ? Object.entries(present) : []);
  for (const [name, value] of Object.entries(patch)) {
    members.set(name, value === null ? undefined : merged(members.get(name), value, depth - 1));
  }
  return Object.fromEntries(members);
}

/** The same without members that are undefined. */
function withoutGone(value: unknown): unknown {
  if (!isObject(value)) return value;
  const left = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(left.map(([name, member]) => [name, withoutGone(member)]));
}
