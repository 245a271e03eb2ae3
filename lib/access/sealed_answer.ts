// Answers that are kept for a caller may hold secrets that are shown once (a token). They are sealed with a key that only
// the caller's own words give, and those are never stored.
import { hash } from "node:crypto";

const NONCE_BYTES = 12;

/** `words` must not be those of the name under which the answer is kept. AES-256-GCM. */
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

/** The counterpart of `sealAnswer`. Throws for other words. */
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
