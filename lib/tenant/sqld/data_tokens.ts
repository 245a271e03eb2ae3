// Short-lived tokens for sqld: Ed25519, each for one namespace and one mode (sqld's documentation, "authentication").
import { importPKCS8, SignJWT } from "jose";
import type { Clock } from "../../core/clock.ts";

/** Seconds that a token is accepted, and milliseconds that one is used before the next is made. */
const LIFETIME_SEC = 300;
const USED_MS = 120_000;
/** Tokens kept at most. */
const MAX_KEPT = 2000;

interface Kept {
  readonly token: Promise<string>;
  readonly madeMs: number;
}

export class DataTokens {
  readonly #kept = new Map<string, Kept>();
  readonly #key: ReturnType<typeof importPKCS8>;

  /** `pem`: the private key, PKCS #8. */
  constructor(pem: string, private readonly clock: Clock) {
    this.#key = importPKCS8(pem, "EdDSA");
    // A key that cannot be read shows in the first request, as the failure of that request.
    this.#key.catch(() => {});
  }

  token(namespace: string, mode: "read" | "write"): Promise<string> {
    const nowMs = this.clock.now();
    const name = `${mode} ${namespace}`;
    const kept = this.#kept.get(name);
    if (kept && Math.abs(nowMs - kept.madeMs) < USED_MS) return kept.token;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    const token = this.#make(namespace, mode, nowMs);
    this.#kept.set(name, { token, madeMs: nowMs });
    return token;
  }

  async #make(namespace: string, mode: "read" | "write", nowMs: number): Promise<string> {
    return await new SignJWT({ id: namespace, a: mode === "read" ? "ro" : "rw" })
      .setProtectedHeader({ alg: "EdDSA" })
      .setExpirationTime(Math.floor(nowMs / 1000) + LIFETIME_SEC)
      .sign(await this.#key);
  }
}
