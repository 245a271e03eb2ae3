// Step 7: the query string or the body as names and values, each name once. What the values mean is the next step's.
import { AppError, type Issue } from "../../core/errors.ts";
import { parseJson } from "../../guard/parse_json.ts";
import { surveyObject } from "../../guard/survey_object.ts";
import { isShallow, MAX_DEPTH } from "./json_text.ts";

/** `text`: every value is a string of the query; `json`: values have the types that the body gave them. */
export interface RawInput {
  readonly form: "text" | "json";
  readonly values: ReadonlyMap<string, unknown>;
}

/** Errors: `validation_failed` for a name that is repeated or not decodable. */
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
  const { members, depth } = surveyObject(text);
  if (depth > MAX_DEPTH + 1) throw tooDeep();
  if (members > MAX_MEMBERS) {
    const message = `Send at most ${MAX_MEMBERS} fields; this body has ${members}`;
    throw new AppError("validation_failed", { issues: [{ path: "", message }] });
  }
  const entries = entriesOf(parseJson(text));
  // The parser keeps the last of several with one name without a word, other readers of the same text the first.
  if (members > entries.length) {
    throw new AppError("invalid_json", { message: "Send each field once; the body repeats one" });
  }
  return { form: "json", values: new Map(entries) };
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
