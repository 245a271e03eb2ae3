// The form of the everyday questions: a schema with its rows and descriptions, and what people ask of it.
import type { AskedSchema } from "../schemas.ts";

/**
 * A question with the statement that a person would have run, or with several that would do; or one that has no answer there.
 * `inOrderOf` is the column of the result in whose order the answer has to stand.
 */
export type EverydayQuestion =
  | { readonly q: string; readonly sql: string | readonly string[]; readonly inOrderOf?: number }
  | { readonly q: string; readonly mustRefuse: true };

export interface EverydaySchema extends AskedSchema {
  readonly questions: readonly EverydayQuestion[];
}

/** The statements of a script, which ends each with a semicolon and a new line. */
export function statementsOf(script: string): string[] {
  return script.split(/;\n/).map((one) => one.trim()).filter((one) => one !== "");
}
