// An answer that is stored for replay: the keys under which it is found, and its form, the same in every store: a line of
// the caller's own context, a line of figures, then the texts of the results end to end. Reading it back gives what was
// answered, to the byte.

/** An answer with its results. */
export interface StoredAnswer {
  readonly context: string;
  /** Of each statement: the text of its result, and the rows that it has read and written. */
  readonly results: readonly {
    readonly json: string;
    readonly rowsRead: number;
    readonly rowsWritten: number;
  }[];
  readonly durationMs: number;
  readonly rowsReadBasis: "engine" | "plan";
  readonly rowsRemoved?: number | undefined;
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
  /** As an outcome has them (`TenantOutcome`). */
  readonly rowsRemoved?: number | undefined;
}

/** The figures of an answer. An answer of an earlier version has three. */
type StoredFigures = readonly [
  results: readonly StoredResult[],
  durationMs: number,
  rowsReadBasis: "engine" | "plan",
  rowsRemoved?: number,
];

/** Writes an answer in the stored form. `context` must be one line. */
export function writeStoredAnswer(
  { context, results, text, durationMs, rowsReadBasis, rowsRemoved }: StoredParts,
): string {
  const figures: StoredFigures = rowsRemoved
    ? [results, durationMs, rowsReadBasis, rowsRemoved]
    : [results, durationMs, rowsReadBasis];
  return `${context}\n${JSON.stringify(figures)}\n${text}`;
}

/** Reads what `writeStoredAnswer` has written. */
export function readStoredAnswer(answer: string): StoredAnswer {
  const first = answer.indexOf("\n");
  const second = answer.indexOf("\n", first + 1);
  const [results, durationMs, rowsReadBasis, rowsRemoved]: StoredFigures = JSON.parse(
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
    rowsRemoved,
  };
}

/** The keys under which an answer is stored, and the request hash that a repeated call must have. */
export interface ReplayKeys {
  readonly keys: readonly { readonly key: string; readonly requestHash: string }[];
  /** Unix milliseconds by the caller's clock: an answer is found while its deadline lies after `nowMs`. */
  readonly nowMs: number;
  readonly expiresAtMs: number;
  /** One line that is stored with the answer and returned with it. */
  readonly context: string;
}
