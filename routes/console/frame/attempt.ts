// Work that a form asks for: what fails in a way that the form can mend comes back as something to show beside it.
import type { z } from "zod";
import { AppError, type ErrorCode, type Issue } from "../../../lib/core/errors.ts";
import { readWith } from "../../middleware/issues.ts";

/** Why a form comes back. */
export interface Problem {
  readonly code: ErrorCode;
  /** For the head of the form; empty where every field says it itself. */
  readonly message: string;
  /** Name of a field → what is wrong with it. */
  readonly fields: Readonly<Record<string, string>>;
  /** The same with their whole paths. */
  readonly issues: readonly Issue[];
  readonly status: (typeof MENDABLE)[number] | (typeof PASSING)[number];
}

/** What came of it. */
export type Attempt<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: Problem };

const MENDABLE = [400, 401, 402, 403, 404, 409, 413, 422, 429] as const;
const PASSING = [503] as const;
/** They lead to another page instead. */
const ELSEWHERE: readonly ErrorCode[] = ["session_ended", "sign_in_again", "csrf_refused"];

/**
 * Runs the work. Everything that no change of the form can mend goes on as it is, but for codes of `passing`: what was typed
 * can be sent again later.
 */
export async function attempt<Value>(
  work: () => Promise<Value>,
  passing: readonly ErrorCode[] = [],
): Promise<Attempt<Value>> {
  // What a form means is read inside of the work, and may fail before there is a promise.
  return await Promise.try(work).then(
    (value): Attempt<Value> => ({ ok: true, value }),
    (error: unknown): Attempt<Value> => ({ ok: false, problem: problemOf(error, passing) }),
  );
}

function problemOf(error: unknown, passing: readonly ErrorCode[]): Problem {
  if (!(error instanceof AppError) || ELSEWHERE.includes(error.code)) throw error;
  const told = passing.includes(error.code) ? [...MENDABLE, ...PASSING] : MENDABLE;
  const status = told.find((one) => one === error.status);
  if (status === undefined) throw error;
  const issues = error.facts.issues ?? [];
  const fields = Object.fromEntries(
    issues.map(({ path, message }) => [path.split(/[.[]/, 1)[0] ?? "", message]),
  );
  const detail = error.facts.detail?.hint;
  const message = issues.length > 0 && error.code === "validation_failed" ? "" : error.message;
  return { code: error.code, message: [message, detail].filter(Boolean).join(". "), fields, issues, status };
}

/**
 * What a form means, by the schema of the API. Errors: `validation_failed` with `issues`, a message for a field in
 * `words` instead of the schema's own.
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  words: Readonly<Record<string, string>> = {},
): z.output<Schema> {
  const read = readWith(schema, input);
  if (read.ok) return read.data;
  const issues = read.issues.map((issue) => ({ ...issue, message: words[issue.path] ?? issue.message }));
  throw new AppError("validation_failed", { issues });
}
