// Step 7: reads the query string or the body as names and values, each name once. The next step reads the values.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError, invalidInput, type Issue } from "../../core/errors.ts";
import { parseJson } from "../../guard/parse_json.ts";
import { surveyJson } from "../../guard/survey_json.ts";
import { outputs } from "../endpoints/spec/outputs.ts";
import type { PreparedSpec } from "../endpoints/spec/prepare_spec.ts";
import { blobOf } from "../endpoints/spec/read_bytes.ts";
import { isShallow, MAX_DEPTH } from "../endpoints/spec/read_value.ts";
import type { RawInput } from "../endpoints/spec/validate_input.ts";
import type { PublishedRequest } from "./published_context.ts";

/** The query string of a URL. Errors: `validation_failed` for a name that is repeated or not decodable. */
export function decodeQuery(url: string): RawInput {
  const values = new Map<string, unknown>();
  const start = url.indexOf("?");
  const query = start < 0 ? "" : url.slice(start + 1).replace(/#.*$/s, "");
  const issues: Issue[] = [];
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decodePart(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decodePart(pair.slice(equals + 1));
    if (name === null || value === null) {
      issues.push({ path: name ?? "", message: "Send the query string percent-encoded as UTF-8" });
    } else if (values.has(name)) {
      issues.push({ path: name, message: "Send this parameter once" });
    } else {
      values.set(name, value);
    }
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues: issues.slice(0, 50) });
  return { form: "text", values };
}

/** Members of a body: above, no specification has so many inputs, and nobody reads so many issues. */
const MAX_MEMBERS = 1000;

/**
 * The members of a JSON object; an empty body is an empty object. What is too deep or too much is refused before it
 * is parsed. Errors: `invalid_json`, `validation_failed`.
 */
export function decodeBody(text: string): RawInput {
  if (text === "") return { form: "json", values: new Map() };
  const { members, depth } = surveyJson(text);
  if (depth > MAX_DEPTH + 1) throw tooDeep();
  if (members > MAX_MEMBERS) {
    throw invalidInput("", `Send at most ${MAX_MEMBERS} fields; this body has ${members}`);
  }
  const entries = entriesOf(parseJson(text));
  // Of several members with one name the parser keeps the last and says nothing; other readers may keep the first.
  if (members > entries.length) {
    throw new AppError("invalid_json", { message: "Send each field once; the body repeats one" });
  }
  return { form: "json", values: new Map(entries) };
}

/** Bodies that are read as JSON: curl sends the second type, and `fetch` the third, unless they are told otherwise. */
const JSON_BODY =
  /^(?:application\/(?:[\w.+-]+\+)?json|application\/x-www-form-urlencoded|text\/plain)(?:$|[\s;])/i;

/** A form: its boundaries and headers are no part of the file that somebody means. */
const FORM_BODY = /^multipart\//i;

/**
 * The body of a POST: a JSON object, or the bytes of the one input where a Content-Type says that it is none. Errors:
 * those of `decodeBody` and of reading the body.
 */
export async function decodePost(
  { rawBody }: Pick<PreparedSpec, "rawBody">,
  { headers, body, bytes }: Pick<PublishedRequest, "headers" | "body" | "bytes">,
): Promise<RawInput> {
  const type = headers.get("content-type");
  if (type !== null && FORM_BODY.test(type)) {
    throw new AppError("invalid_json", {
      message: rawBody === null
        ? "Send the fields as one JSON object, not in a form"
        : "Send the file itself as the body, or a JSON object, not a form",
    });
  }
  if (rawBody === null || type === null || JSON_BODY.test(type)) return decodeBody(await body());
  const value = await bytes();
  // No bytes at all are no value: whoever means an empty one sends it as JSON.
  return { form: "json", values: new Map(value.length === 0 ? [] : [[rawBody, blobOf(value)]]) };
}

/** As `decodeBody`, of a value that was parsed elsewhere. */
export function decodeObject(value: unknown): RawInput {
  if (!isShallow(value, MAX_DEPTH + 1)) throw tooDeep();
  return { form: "json", values: new Map(entriesOf(value)) };
}

function entriesOf(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("invalid_json", { message: "Send the input as one JSON object" });
  }
  return Object.entries(value);
}

function tooDeep(): AppError {
  return new AppError("invalid_json", { message: `Send JSON of at most ${MAX_DEPTH} levels in a field` });
}

/** Null for what is not percent-encoded UTF-8: a replaced character would change a value silently. */
function decodePart(part: string): string | null {
  const spaced = part.includes("+") ? part.replaceAll("+", " ") : part;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return null;
  }
}

/** Nothing that browsers or proxies send of their own accord. */
const UNHEARD = [
  "X-Dry-Run",
  "X-Max-Affected",
  "X-Service-No-Snapshot",
  "Plan-Key",
  "Plan-Step",
] as const;

/**
 * Refuses what a POST ignores: headers by which calls of other surfaces do less, once or differently, and parameters
 * in the query string. The caller is told before anything happens. Errors: `validation_failed` naming the headers or
 * the parameters.
 */
export function refuseUnheard(
  { method, kind, output }: EndpointSpec,
  { headers, url }: Pick<PublishedRequest, "headers" | "url">,
): void {
  if (method === "GET") return;
  const unheard = [
    ...UNHEARD,
    ...(kind === "mutation" ? [] : ["Idempotency-Key"]),
    ...(outputs[output].holdsRows ? [] : ["X-Integers"]),
  ];
  const issues: Issue[] = unheard.filter((name) => headers.has(name)).map((path) => (
    { path, message: "Leave the header out; this endpoint does not hear it" }
  ));
  for (const path of url.includes("?") ? decodeQuery(url).values.keys() : []) {
    issues.push({ path, message: "Send this in the body; a POST has no parameters in its address" });
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues: issues.slice(0, 50) });
}
