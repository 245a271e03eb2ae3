// A published endpoint as its owner writes it: one schema that validates, types and documents it. Rules that need the
// database (does the SQL compile, do tables exist) are checked in lib/services/endpoints/spec/.
import { z } from "zod";
import { endpointExamples } from "./endpoint_examples.ts";
import { MAX_SESSION_SEC } from "./limits.ts";
import { nameText, plainText } from "./text_checks.ts";

/**
 * `scheme://host[:port]` with nothing after it and no wildcard. Apps and browser extensions have schemes of their
 * own.
 */
const ORIGIN =
  /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)(?::\d{1,5})?$/;
const ORIGIN_FORM =
  "Write the origin as browsers send it: scheme://host[:port] in lower case, without the scheme's own port, no *";
const CONTENT_TYPE = /^[a-z0-9][a-z0-9.+-]*\/[a-z0-9][a-z0-9.+-]*(?:; ?[a-z0-9-]+=[A-Za-z0-9_.+-]+)*$/;
const CONTENT_TYPE_FORM = "Write a media type in lower case, as image/png or text/plain; charset=utf-8";
/** Fields with `$` come from the verified session, never from the caller. */
const FIELD_NAME = /^(?:[a-z][a-z0-9_]{0,40}|\$user_id|\$user_email|\$session_iat)$/;

/** One input of an endpoint. */
export const fieldSpec = z.strictObject({
  name: z.string().regex(FIELD_NAME),
  label: z.string().max(200).check(nameText).optional().describe("Defaults to the name"),
  type: z.enum([
    ...["text", "email", "url", "integer", "number", "boolean", "json", "match"] as const,
    ...["date", "datetime", "uuid", "blob"] as const,
  ]),
  required: z.boolean().optional(),
  pattern: z.string().max(500).optional().describe("Regex source without slashes; text only"),
  enum: z.array(z.string().max(500)).min(1).max(1000).optional().describe("Allowed values; text only"),
  min: z.number().optional().describe("integer and number only"),
  max: z.number().optional().describe("integer and number only"),
  maxLength: z.int().min(0).max(1_000_000).optional().describe("In code points; of a blob in bytes"),
  minLength: z.int().min(0).max(1_000_000).optional().describe("As maxLength"),
  trim: z.boolean().optional().describe("White space at both ends is cut; text, email and url only"),
  default: z.union([z.string(), z.number(), z.boolean(), z.null()], {
    error: "Set a default that is text, a number, true, false or null; that of json is its text, in quotes",
  }).optional().describe("Bound when the input is absent"),
});

/** The text of a mail: `{{link}}` and `{{email}}` are filled in. */
const mailTemplate = z.strictObject({
  subject: z.string().min(1).max(200),
  text: z.string().min(1).max(5000),
});

/** A whole specification. */
export const endpointSpec = z.strictObject({
  slug: z.string().regex(
    /^[a-z][a-z0-9-]{0,40}$/,
    "Send up to 41 lower-case letters, digits and hyphens, a letter first",
  ),
  name: z.string().min(1).max(200).check(nameText),
  description: z.string().max(2000).check(plainText).optional(),
  kind: z.enum([
    ...["query", "mutation", "auth_signup", "auth_login", "auth_password", "auth_logout"] as const,
    ...["auth_refresh", "auth_reset", "auth_verify", "ask"] as const,
  ]),
  method: z.enum(["GET", "POST"]),
  sql: z.string().max(100_000).describe(
    "? for each input, in their order, or :name and $user_id for the input of that name. A mutation may have up to 20 " +
      "statements, separated by ;, in one transaction; @name is that column of the first row that an earlier one returned. Empty for kinds without one",
  ),
  input: z.array(fieldSpec).max(100),
  output: z.enum(["rows", "first_row", "page", "rows_written", "bytes", "session", "done", "answer"]),
  outputTypes: z.record(z.string().min(1).max(200), z.enum(["boolean", "json"])).optional().describe(
    "Column of the answer → what its numbers or its text mean; rows, first_row and page only",
  ),
  list: z.strictObject({
    key: z.array(z.string().min(1).max(200)).min(1).max(8).describe("Columns that tell the rows apart"),
    filters: z.array(z.strictObject({
      input: z.string().max(41),
      column: z.string().min(1).max(200),
      is: z.enum(["=", ">=", "<=", ">", "<", "null"]).optional().describe(
        "= unless given; null: a boolean input, true for rows without a value, false for those with one",
      ),
    })).max(32).optional().describe("Each applies where its input is sent"),
  }).optional().describe(
    "For the output page: what the inputs sort, limit, cursor and total, and those of the filters, do to the rows of sql",
  ),
  contentType: z.string().max(100).regex(CONTENT_TYPE, CONTENT_TYPE_FORM).optional().describe(
    "Of the bytes; bytes only, application/octet-stream unless given",
  ),
  auth: z.enum(["public", "session"]).optional(),
  rateLimit: z.strictObject({
    perMin: z.int().min(1).max(100_000).optional(),
    perDay: z.int().min(1).max(10_000_000).optional(),
  }).optional(),
  captcha: z.boolean().optional(),
  cors: z.array(
    z.string().max(300).regex(ORIGIN, { error: ORIGIN_FORM, abort: true }).refine(isOrigin, ORIGIN_FORM),
  ).max(100)
    .optional(),
  cacheSec: z.int().min(0).max(3600).optional().describe("Public queries without captcha only"),
  authConfig: z.strictObject({
    usersTable: z.string().min(1).max(200),
    emailColumn: z.string().min(1).max(200).optional(),
    passwordColumn: z.literal("password_hash"),
    sessionTtlSec: z.int().min(1).max(604_800).optional(),
    sessionTotalSec: z.int().min(60).max(MAX_SESSION_SEC).optional().describe(
      "auth_refresh only: seconds from the log-in until a session can be refreshed no more; 30 days unless given",
    ),
    resetUrl: z.url().max(500).optional().describe("auth_reset only: the page that takes the token"),
    verifyUrl: z.url().max(500).optional().describe("auth_verify only: the page that takes the token"),
    verifiedColumn: z.string().min(1).max(200).optional().describe(
      "auth_verify only: gets the time at which the address was verified",
    ),
    mail: mailTemplate.optional().describe("auth_reset and auth_verify only"),
  }).optional(),
  askConfig: z.strictObject({
    allowedTables: z.array(z.string().min(1).max(200)).min(1).max(200),
    context: z.string().max(10_000).optional(),
    maxRows: z.int().min(1).max(1000).optional(),
  }).optional(),
}).meta({ examples: endpointExamples });

/** Whether a text has the form in which browsers send origins: any other form would never match. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  // For other schemes than the web's the parser's `origin` is "null"; then the whole URL must be the origin.
  return (url?.origin === "null" ? url.href : url?.origin) === text;
}

/** One input, checked. */
export type FieldSpec = z.output<typeof fieldSpec>;
/** A specification, checked. */
export type EndpointSpec = z.output<typeof endpointSpec>;
/** Only `published` endpoints are served; `draft` ones are not even found. */
export type EndpointStatus = "draft" | "published" | "paused";
