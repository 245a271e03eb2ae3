// The part of JSR's `@std/crypto` that this project uses, under the same names (the import map points here
// until the registry can be reached; moving is one line in deno.json).
import { timingSafeEqual as nodeTimingSafeEqual } from "node:crypto";

/** Compares two byte strings in time that depends on their length only; different lengths are unequal. */
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && nodeTimingSafeEqual(a, b);
}
