// The seam behind which a question becomes SQL. What comes out is a proposal: nothing of it runs before it is checked.
import type { AskSchema } from "./ask_schema.ts";
import type { FoundValue } from "./find_values.ts";

/** What there is to write SQL from: only what `allowedTables` names. */
export interface AskRequest {
  readonly question: string;
  readonly schema: AskSchema;
  /** The owner's words about the data; empty where there are none. */
  readonly context: string;
  /** Rows that the answer may have. */
  readonly maxRows: number;
  /** Unix milliseconds: what "today" means. */
  readonly nowMs: number;
  /** Set for the second and last round: what was proposed and why it did not do. */
  readonly failed: { readonly sql: string; readonly reason: string } | null;
  readonly signal: AbortSignal | null;
  /** Stored text values that are one of the phrases: the data's own words, which only the embedded translator asks for. */
  readonly findValues: (phrases: readonly string[]) => Promise<readonly FoundValue[]>;
}

export type AskProposal =
  | { readonly ok: true; readonly sql: string; readonly explanation: string | null }
  /** `reason` completes "Ask another way; ". */
  | { readonly ok: false; readonly reason: string };

/** OpenAI-compatible client, embedded translator, scripted (tests). */
export interface AskModel {
  /** False: a second round would bring the same again. */
  readonly repairs: boolean;
  /** Errors: `ask_unavailable` when the model's server does not answer in time or answers with a failure. */
  propose(request: AskRequest): Promise<AskProposal>;
}
