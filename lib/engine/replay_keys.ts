// What makes a repeated call the same one.

/** Under what an answer is stored for repeated calls, and what makes a call the same one. */
export interface ReplayKeys {
  readonly keys: readonly { readonly key: string; readonly requestHash: string }[];
  /** Unix milliseconds by the caller's clock: an answer is found while its deadline lies after `nowMs`. */
  readonly nowMs: number;
  readonly expiresAtMs: number;
  /** Stored with the answer and given back with it; one line. */
  readonly context: string;
}
