// Bytes of callers: base64 in a field, in one of its two alphabets, or the form in which answers show a blob.

/** Base64 with or without its padding. Null for anything else. */
export function readBytes(value: unknown): Uint8Array | null {
  const text = typeof value === "object" && value !== null && "$blob" in value ? value.$blob : value;
  if (typeof text !== "string" || !/^[\w+/-]*={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}

/** Bytes as a parameter. */
export function blobOf(bytes: Uint8Array): { readonly $blob: string } {
  return { $blob: bytes.toBase64() };
}
