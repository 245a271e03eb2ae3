// The answer of a browser about a passkey, as a form brings it.
import { z } from "zod";
import type { BrowserAnswer } from "../../../lib/services/people/verify_passkey.ts";
import { AppError } from "../../../lib/core/errors.ts";
import { parseJson } from "../../../lib/guard/parse_json.ts";

/** Characters: an attestation of many certificates stays below. */
const MAX_LENGTH = 32_768;
const answerForm = z.looseObject({
  id: z.string().min(1).max(1400),
  response: z.looseObject({ userHandle: z.string().max(200).optional() }),
});

/** Null where the form holds none: it came without a script. Errors: `invalid_json`, `passkey_refused`. */
export function passkeyAnswer(text: string): BrowserAnswer | null {
  if (text === "") return null;
  if (text.length > MAX_LENGTH) throw new AppError("passkey_refused");
  const parsed = answerForm.safeParse(parseJson(text));
  if (!parsed.success) throw new AppError("passkey_refused");
  return parsed.data;
}
