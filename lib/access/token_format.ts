// The outer form of every secret that the service gives out: a prefix that scanners can recognise, 32 random
// characters, and a checksum so that a typing error fails without a look-up. Only hashes are ever stored.
import { hash, timingSafeEqual } from "node:crypto";

/** What a secret is for. */
export type TokenPrefix =
  | "cub_live_"
  | "cub_op_"
  | "phand_"
  | "pchg_"
  | "pmut_"
  | "appr_"
  | "pinv_"
  | "pstart_"
  | "pcode_"
  | "pacc_"
  | "prefr_";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
/** The largest multiple of 62 in a byte: larger bytes would make some characters more likely. */
const FAIR_BYTES = 248;

/** A fresh secret with 190 bits of randomness. */
export function newToken(prefix: TokenPrefix): string {
  let random = "";
  while (random.length < RANDOM_LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH * 2))) {
      if (byte < FAIR_BYTES && random.length < RANDOM_LENGTH) random += ALPHABET.charAt(byte % 62);
    }
  }
  return prefix + random + checksum(random, 0);
}

/** The secret made from a keyed hash (64 hex digits) of the service's own: 190 bits of it. */
export function derivedToken(prefix: TokenPrefix, keyedHash: string): string {
  let rest = BigInt(`0x${keyedHash}`);
  let digits = "";
  while (digits.length < RANDOM_LENGTH) {
    digits += ALPHABET.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return prefix + digits + checksum(digits, 0);
}

/** Whether a text has the right form and checksum. It says nothing about whether the token exists. */
export function isToken(prefix: TokenPrefix, text: string): boolean {
  const end = prefix.length + RANDOM_LENGTH;
  return text.length === end + CHECKSUM_LENGTH && text.startsWith(prefix) && /^\w+$/.test(text) &&
    text.endsWith(checksum(text.slice(0, end), prefix.length));
}

/** SHA-256 of a secret, hex: this is stored and looked up. */
export function tokenHash(token: string): string {
  return hash("sha256", token, "hex");
}

/** CRC-32 of the text from `start`, in base62, six characters. */
function checksum(text: string, start: number): string {
  let value = crc32(text, start);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}

/** CRC-32 of IEEE 802.3, as zlib computes it; `text` is ASCII. */
function crc32(text: string, start: number): number {
  let crc = 0xffff_ffff;
  for (let i = start; i < text.length; i++) {
    crc = (crcTable[(crc ^ text.charCodeAt(i)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1;
  return value;
});

/** Compares two byte strings in time that depends only on their length. Different lengths are unequal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
