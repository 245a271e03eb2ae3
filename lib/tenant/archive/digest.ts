// Digests of the archive's objects, which stand in their names.
import { createHash } from "node:crypto";

/** SHA-256 as 64 hexadecimal digits. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
