// The embedded captcha: ALTCHA's proof of work (altcha-lib 2, PBKDF2/SHA-256). Challenges are signed for one endpoint
// and a short time; nothing is stored until one has counted.
import { createChallenge, verifySolution } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/web/pbkdf2";
import { hash } from "node:crypto";
import { z } from "zod";
import type { KeyedHashes } from "../control/keyed_hashes.ts";
import { type Clock, MINUTE_MS } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit } from "../store/kv_call.ts";
import { type Captcha, type CaptchaScope, MAX_CAPTCHA_TOKEN } from "./captcha.ts";

/** PBKDF2 iterations of one try, and tries until a solution: about half a second of one core in a browser. */
const COST = 5000;
const MIN_TRIES = 200;
const MAX_TRIES = 800;
/** Milliseconds in which a challenge must be solved and sent. */
const LIFETIME_MS = 10 * MINUTE_MS;

/** What it needs of the process. */
export interface AltchaParts {
  readonly kv: Deno.Kv;
  readonly hashes: KeyedHashes;
  readonly clock: Clock;
}

const payload = z.object({
  challenge: z.object({
    parameters: z.strictObject({
      algorithm: z.literal("PBKDF2/SHA-256"),
      nonce: z.string(),
      salt: z.string(),
      cost: z.int(),
      keyLength: z.int(),
      keyPrefix: z.string(),
      keySignature: z.string(),
      expiresAt: z.int(),
      data: z.strictObject({ endpoint: z.string() }),
    }),
    signature: z.string(),
  }),
  solution: z.object({ counter: z.int(), derivedKey: z.string() }),
});

/** The embedded provider. */
export function captchaAltcha({ kv, hashes, clock }: AltchaParts): Captcha {
  const secretsOf = async (scope: CaptchaScope) => ({
    hmacSignatureSecret: await hashes.of("altcha", scope.databaseId, scope.slug),
    hmacKeySignatureSecret: await hashes.of("altcha key", scope.databaseId, scope.slug),
  });
  return {
    challenge: async (scope) =>
      await createChallenge({
        algorithm: "PBKDF2/SHA-256",
        cost: COST,
        counter: randomTries(),
        deriveKey,
        expiresAt: Math.floor((clock.now() + LIFETIME_MS) / 1000),
        data: { endpoint: scope.slug },
        ...await secretsOf(scope),
      }),
    verify: async (scope, token) => {
      const read = readPayload(token);
      if (read === null) return false;
      const { challenge, solution } = read;
      const { expiresAt, data } = challenge.parameters;
      const leftMs = expiresAt * 1000 - clock.now();
      if (leftMs <= 0 || data.endpoint !== scope.slug) return false;
      const { verified } = await verifySolution({
        challenge,
        solution,
        deriveKey,
        ...await secretsOf(scope),
      });
      return verified && await counts(kv, challenge.signature, leftMs);
    },
  };
}

/** Null for anything but base64 of `{ challenge, solution }`. */
function readPayload(token: string): z.output<typeof payload> | null {
  if (token.length > MAX_CAPTCHA_TOKEN) return null;
  try {
    const text = new TextDecoder().decode(Uint8Array.fromBase64(token));
    return payload.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function randomTries(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return MIN_TRIES + random % (MAX_TRIES - MIN_TRIES);
}

/**
 * True for the first of several callers, in all processes. `leftMs`: how long the proof is still valid. Errors:
 * `meter_unreachable`.
 */
function counts(kv: Deno.Kv, proof: string, leftMs: number): Promise<boolean> {
  const key = keys.captchaUsed(hash("sha256", proof, "hex"));
  return kvCommit(
    kv.atomic().check({ key, versionstamp: null }).set(key, true, { expireIn: Math.max(1, leftMs) }),
  );
}
