// The form in which an answer is stored for replay, the same in every store: a line of the caller's own context, a line of
// figures, then the texts of the results end to end. Reading it back gives what was answered, to the byte.
import type { StatementResult } from "./tenant_store.ts";

/** An answer with its results. */
export interface StoredAnswer {
  readonly context: string;
  readonly results: readonly StatementResult[];
  readonly durationMs: number;
  readonly rowsReadBasis: "engine" | "plan";
}

/** Per statement: length of its text, rows read, rows written. */
export type StoredResult = readonly [textLength: number, rowsRead: number, rowsWritten: number];

/** The parts of a stored answer. */
export interface StoredParts {
  readonly context: string;
  readonly results: readonly StoredResult[];
  /** The results' JSON texts, end to end. */
  readonly text: string;
  readonly durationMs: number;
  readonly rowsReadBasis: "engine" | "plan";
}

/** Writes an answer in the stored form. `context` must be one line. */
export function writeStoredAnswer(
  { context, results, text, durationMs, rowsReadBasis }: StoredParts,
): string {
  return `${context}\n${JSON.stringify([results, durationMs, rowsReadBasis])}\n${text}`;
}

/** Reads what `writeStoredAnswer` has written. */
export function readStoredAnswer(answer: string): StoredAnswer {
  const first = answer.indexOf("\n");
  const second = answer.indexOf("\n", first + 1);
  const [results, durationMs, rowsReadBasis]: [StoredResult[], number, "engine" | "plan"] = JSON.parse(
    answer.slice(first + 1, second),
  );
  let end = second + 1;
  return {
    context: answer.slice(0, first),
    results: results.map(([length, rowsRead, rowsWritten]) => {
      const json = answer.slice(end, end + length);
      end += length;
      return { json, rowsRead, rowsWritten };
    }),
    durationMs,
    rowsReadBasis,
  };
}
