// What comparing a password costs, counted in iterations: time itself is nothing to assert.
import { assertEquals } from "@std/assert";
import { pbkdf2Sync } from "node:crypto";
import { newPassword, normalPassword, PasswordHasher } from "../../lib/access/password_hash.ts";
import { iterationsOf } from "../testing/iterations_of.ts";

const OURS = 210_000;
/** Of a hasher here: what it computes is counted and follows from how many it has, so few are enough. */
const FEW = 5_000;
const bounds = { running: 1, admitted: 10, admittedOfOwner: 10 };
const salt = new Uint8Array(16);

function stored(password: string, iterations: number, bytes = 32): string {
  const hash = Uint8Array.from(pbkdf2Sync(password, salt, iterations, bytes, "sha256")).toBase64();
  return `pbkdf2_sha256$${iterations}$${salt.toBase64()}$${hash}`;
}

Deno.test("hash() and verify() compute 210,000 iterations unless they are told otherwise", async () => {
  const hasher = new PasswordHasher(bounds);
  assertEquals(await iterationsOf(() => hasher.hash("ns_1", "secret")), OURS);
  assertEquals(await iterationsOf(() => hasher.verify("ns_1", "secret", null)), OURS);
});

Deno.test("verify() computes for an imported hash as much as for an unknown user, right or wrong", async () => {
  const hasher = new PasswordHasher(bounds, FEW);
  const verify = (password: string | null, hash: string | null) =>
    iterationsOf(() => hasher.verify("ns_1", password, hash));
  assertEquals(await verify("secret", null), FEW);
  assertEquals(await verify(null, stored("secret", 1000)), FEW);
  for (const [iterations, bytes] of [[1, 32], [1000, 32], [1000, 64], [1000, 16], [FEW, 32]] as const) {
    for (const password of ["secret", "wrong"]) {
      assertEquals(
        await verify(password, stored("secret", iterations, bytes)),
        FEW,
        `${iterations} ${bytes}`,
      );
    }
    assertEquals(await hasher.verify("ns_1", "secret", stored("secret", iterations, bytes)), true);
    assertEquals(await hasher.verify("ns_1", "wrong", stored("secret", iterations, bytes)), false);
  }
});

Deno.test("verify() never matches a hash of more than a million iterations, and computes as for an unknown user", async () => {
  const hasher = new PasswordHasher(bounds, FEW);
  for (const [iterations, bytes] of [[1_000_001, 32], [500_001, 64]] as const) {
    const hash = stored("secret", iterations, bytes);
    assertEquals(await iterationsOf(() => hasher.verify("ns_1", "secret", hash)), FEW);
    assertEquals(await hasher.verify("ns_1", "secret", hash), false);
  }
});

Deno.test("newPassword() has bounds that normalPassword() does not: imported passwords may be short", () => {
  assertEquals([newPassword("1234567"), normalPassword("1234567")], [null, "1234567"]);
  assertEquals([newPassword("ﬁﬁﬁﬁ"), normalPassword("Å")], ["fifififi", "Å"]);
  assertEquals(newPassword("x".repeat(1024))?.length, 1024);
  assertEquals(newPassword("x".repeat(1025)), null);
  assertEquals([normalPassword("x".repeat(8193)), normalPassword("\ud800")], [null, null]);
});
