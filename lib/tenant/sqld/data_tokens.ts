// Short-lived tokens for sqld: Ed25519, each for one namespace and one mode (sqld's documentation, "authentication").
import { importPKCS8, SignJWT } from "jose";
import type { Clock } from "../../core/clock.ts";
import { CachedTokens } from "../remote/server/cached_tokens.ts";

/** Seconds that a token is accepted, and milliseconds that one is used before the next is made. */
const LIFETIME_SEC = 300;
const USED_MS = 120_000;

/** Makes the tokens of one server. */
export class DataTokens {
  readonly #cached: CachedTokens;
  readonly #key: ReturnType<typeof importPKCS8>;
  /** A moment of the server's clock, in unix milliseconds and as our monotonic counter tells it; null: it goes as ours. */
  #server: { readonly unixMs: number; readonly atMs: number } | null = null;

  /** `pem`: the private key, PKCS #8. */
  constructor(pem: string, private readonly clock: Clock) {
    this.#key = importPKCS8(pem, "EdDSA");
    // A key that cannot be read shows in the first request, as the failure of that request.
    this.#key.catch(() => {});
    this.#cached = new CachedTokens({
      clock,
      usedMs: USED_MS,
      make: (location, mode) => this.#make(location, mode),
    });
  }

  token(namespace: string, mode: "read" | "write"): Promise<string> {
    return this.#cached.token(namespace, mode);
  }

  /** The server's clock says `unixMs`, by which what it was given was too old: from now on its clock counts. */
  follow(unixMs: number): void {
    this.#server = { unixMs, atMs: this.clock.monotonicMs() };
    this.#cached.forgetAll();
  }

  /** Ours may be wrong, or be put back. */
  #serverMs(): number {
    const server = this.#server;
    return server === null ? this.clock.now() : server.unixMs + this.clock.monotonicMs() - server.atMs;
  }

  async #make(namespace: string, mode: "read" | "write"): Promise<string> {
    return await new SignJWT({ id: namespace, a: mode === "read" ? "ro" : "rw" })
      .setProtectedHeader({ alg: "EdDSA" })
      .setExpirationTime(Math.floor(this.#serverMs() / 1000) + LIFETIME_SEC)
      .sign(await this.#key);
  }
}
