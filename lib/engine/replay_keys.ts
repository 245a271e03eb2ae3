// The keys by which a repeated call is recognised.

/** The keys under which an answer is stored, and the request hash that a repeated call must have. */
export interface ReplayKeys {
  readonly keys: readonly { readonly key: string; readonly requestHash: string }[];
  /** Unix milliseconds by the caller's clock: an answer is found while its deadline lies after `nowMs`. */
  readonly nowMs: number;
  readonly expiresAtMs: number;
  /** One line that is stored with the answer and returned with it. */
  readonly context: string;
}
