// A digest in a table: its beginning, which tells it apart; all of it where somebody points at it.
import type { Html } from "./html.ts";

const SHOWN = 12;

/** The text of a SHA-256. */
export function Digest({ of }: { readonly of: string }): Html {
  return <code title={of}>{of.slice(0, SHOWN)}</code>;
}
