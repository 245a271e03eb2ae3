// Calls that can be repeated: the hashes under which they are known, and answers sealed for their caller. Keys of
// callers are never stored.
import { hash } from "node:crypto";
import type { ReplayScope } from "../control/replays.ts";
import { invalidInput } from "../core/errors.ts";

/** A key has 1 to 200 visible characters. */
const KEY = /^[!-~]{1,200}$/;

/**
 * The name of a call: `scope` is everything that distinguishes it from other calls, `content` what must be equal when
 * it is repeated.
 */
export function replayScope(scope: readonly string[], content: string): ReplayScope {
  return { key: hash("sha256", JSON.stringify(scope), "hex"), requestHash: hash("sha256", content, "hex") };
}

/** Checks a key. Errors: `validation_failed` naming the header. */
export function requireReplayKey(header: string, value: string): void {
  if (KEY.test(value)) return;
  throw invalidInput(header, "Send 1 to 200 visible ASCII characters");
}

const NONCE_BYTES = 12;

/**
 * Seals an answer for its caller with AES-256-GCM: it may contain a secret that is shown once. The key comes from
 * `words` of the caller, which are never stored and must not be those of the call's name.
 */
export async function sealAnswer(words: readonly string[], answer: Uint8Array): Promise<Uint8Array> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = new Uint8Array(
    await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await keyOf(words), answer.slice()),
  );
  const whole = new Uint8Array(NONCE_BYTES + sealed.length);
  whole.set(iv);
  whole.set(sealed, NONCE_BYTES);
  return whole;
}

/** Opens a sealed answer. Throws for other words. */
export async function openAnswer(words: readonly string[], whole: Uint8Array): Promise<Uint8Array> {
  const iv = whole.slice(0, NONCE_BYTES);
  const key = await keyOf(words);
  return new Uint8Array(
    await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, whole.slice(NONCE_BYTES)),
  );
}

function keyOf(words: readonly string[]): Promise<CryptoKey> {
  const bytes = Uint8Array.fromHex(hash("sha256", JSON.stringify(["sealed answer", ...words]), "hex"));
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}
