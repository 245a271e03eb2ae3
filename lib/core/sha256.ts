// SHA-256 that is loaded when it is first wanted: every engine child holds it ready, and hardly any ever computes one.
import type { createHash, Hash } from "node:crypto";

let loaded: typeof createHash | undefined;

/**
 * A new hash. Whoever runs in an engine child takes it from here: to load `node:crypto` takes a fifth of the processor
 * time in which a child starts.
 */
export function sha256(): Hash {
  loaded ??= process.getBuiltinModule("node:crypto").createHash;
  return loaded("sha256");
}
