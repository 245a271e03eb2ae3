import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  derivedToken,
  isToken,
  newToken,
  tokenHash,
  type TokenPrefix,
} from "../../lib/access/token_format.ts";

const prefixes: readonly TokenPrefix[] = ["cub_live_", "cub_op_", "phand_", "pmut_", "appr_"];

Deno.test("newToken() makes prefix, 32 random characters and 6 of checksum, never twice the same", () => {
  const made = new Set<string>();
  for (const prefix of prefixes) {
    for (let n = 0; n < 200; n++) {
      const token = newToken(prefix);
      assertMatch(token, new RegExp(`^${prefix}[0-9A-Za-z]{38}$`));
      assertEquals(isToken(prefix, token), true);
      made.add(token);
    }
  }
  assertEquals(made.size, prefixes.length * 200);
});

Deno.test("newToken() uses every character of its alphabet about equally often", () => {
  const counts = new Map<string, number>();
  for (let n = 0; n < 2000; n++) {
    for (const letter of newToken("pmut_").slice(5, 37)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  assertEquals(counts.size, 62);
  const expected = 2000 * 32 / 62;
  for (const [letter, count] of counts) {
    assert(Math.abs(count - expected) < expected * 0.3, `${letter}: ${count}`);
  }
});

Deno.test("derivedToken() makes one token of a hash, of the form of all, and another one of every other hash", () => {
  const hashes = Array.from({ length: 200 }, (_, n) => tokenHash(String(n)));
  const made = new Set(hashes.map((hash) => derivedToken("appr_", hash)));
  assertEquals(made, new Set(hashes.map((hash) => derivedToken("appr_", hash))));
  assertEquals(made.size, hashes.length);
  for (const token of [...made, derivedToken("appr_", "0".repeat(64))]) {
    assertEquals(isToken("appr_", token), true, token);
  }
});

Deno.test("isToken() refuses every typing error of one character and every swap of neighbours", () => {
  const token = newToken("cub_live_");
  for (let at = 9; at < token.length; at++) {
    const other = token[at] === "x" ? "y" : "x";
    assertEquals(isToken("cub_live_", token.slice(0, at) + other + token.slice(at + 1)), false, `${at}`);
    const [a = "", b = ""] = [token[at], token[at + 1]];
    if (b === "" || a === b) continue;
    assertEquals(isToken("cub_live_", token.slice(0, at) + b + a + token.slice(at + 2)), false, `${at}`);
  }
});

Deno.test("isToken() refuses other prefixes, lengths, cases and characters", () => {
  const token = newToken("cub_live_");
  for (const prefix of prefixes.slice(1)) assertEquals(isToken(prefix, token), false);
  const wrong = ["", "cub_live_", token.slice(1), token.slice(0, -1), `${token}0`, ` ${token}`, `${token}\n`];
  for (
    const text of [...wrong, token.toUpperCase(), token.toLowerCase(), token.replace("_live_", "_dead_")]
  ) {
    assertEquals(isToken("cub_live_", text), false, text);
  }
});

Deno.test("the checksum is zlib's CRC-32, in base62, of the 32 characters before it", () => {
  // zlib.crc32(b"0" * 32) is 0xa0f292d0.
  assertEquals(isToken("pmut_", `pmut_${"0".repeat(32)}2wjyrI`), true);
});

Deno.test("tokenHash() is SHA-256 in hex", () => {
  assertEquals(tokenHash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
