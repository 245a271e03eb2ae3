// Parts of a text in the form in which a message may repeat them. Pure.
import { beginning } from "../../core/plain_text.ts";

/**
 * The parser quotes the token at which it stopped: a literal is a value, and an unfinished one is all the rest of the
 * text.
 */
export function withoutLiterals(message: string): string {
  if (/^unrecognized token: "[^]{3,}"/.test(message)) return "unrecognized token";
  return beginning(message.replace(/"(?:[xX]?'[^]*|\.?[0-9][^"]*)"?/, "a literal"), 200);
}

/** A name as a message may show it: letters, digits and underscores, of a bounded length. */
export function printable(name: string): string {
  return beginning(name.replace(/[^\p{L}\p{N}_]/gu, "?"), 64);
}
