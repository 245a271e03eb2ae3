// Bytes as text in base64url without padding (RFC 4648, section 5), as cookies, cursors and the parts of a JWT are.

/** The text of the bytes. */
export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The text of so many random bytes. */
export function randomBase64url(count: number): string {
  return base64url(crypto.getRandomValues(new Uint8Array(count)));
}
