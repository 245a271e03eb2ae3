// The seam behind which a question becomes SQL. The result is a proposal: it is checked before it runs.
import type { Payer } from "../../../query/bill.ts";
import type { AskSchema } from "./ask_schema.ts";
import type { FoundValue } from "./find_values.ts";

/** What a model may use to write SQL: only what `allowedTables` names. */
export interface AskRequest {
  readonly question: string;
  readonly schema: AskSchema;
  /** The owner's words about the data; empty where there are none. */
  readonly context: string;
  /** The most rows that the answer may have. */
  readonly maxRows: number;
  /** Unix milliseconds: what "today" means. */
  readonly nowMs: number;
  /** Set for the second and last round: the first proposal and what was wrong with it. */
  readonly failed: { readonly sql: string; readonly reason: string } | null;
  readonly signal: AbortSignal | null;
  /** Who pays for a server that is asked. */
  readonly payer: Payer;
  /** Finds stored text values that equal one of the phrases. Only the embedded translator asks for these. */
  readonly findValues: (phrases: readonly string[]) => Promise<readonly FoundValue[]>;
}

/** Why there is no statement. */
export interface Refusal {
  /** Completes "Ask another way; ". Strangers read it: it names words of the question, never a table or a column. */
  readonly reason: string;
  /** Follows the reason for those who may read the schema: near words of it, questions that would work. */
  readonly schemaWords?: string;
}

/** A statement, or why there is none. */
export type AskProposal =
  | { readonly ok: true; readonly sql: string; readonly explanation: string | null }
  | { readonly ok: false } & Refusal;

/** Implemented by the OpenAI-compatible client, the embedded translator, and scripts in tests. */
export interface AskModel {
  /** False: a second round would give the same proposal. */
  readonly repairs: boolean;
  /** Errors: `ask_unavailable` when the model's server does not answer in time or answers with a failure. */
  propose(request: AskRequest): Promise<AskProposal>;
}
