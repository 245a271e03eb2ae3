// Short-lived tokens for the data of locations: each for one location and one mode, made when it is needed and used until
// shortly before it ends.
import type { Clock } from "../../../core/clock.ts";
import type { Mode } from "./remote_context.ts";
import { putNewest } from "../../../core/put_newest.ts";

/** Tokens cached at most; the oldest go. */
const MAX_CACHED = 2000;

/** How long a token is used. */
export interface CachedTokensOptions {
  readonly clock: Clock;
  /** Milliseconds that one is used before the next is made. */
  readonly usedMs: number;
  readonly make: (location: string, mode: Mode) => Promise<string>;
}

interface Cached {
  readonly token: Promise<string>;
  readonly madeMs: number;
  /** The token, once it is there. */
  value: string | null;
}

/** The cached tokens of one server. */
export class CachedTokens {
  readonly #cached = new Map<string, Cached>();

  constructor(private readonly options: CachedTokensOptions) {}

  /** Those who ask at the same time get the same one. Throws what `make` throws. */
  token(location: string, mode: Mode): Promise<string> {
    const nowMs = this.options.clock.now();
    const name = nameOf(location, mode);
    const cached = this.#cached.get(name);
    if (cached && Math.abs(nowMs - cached.madeMs) < this.options.usedMs) return cached.token;
    const made: Cached = { token: this.options.make(location, mode), madeMs: nowMs, value: null };
    made.token.then((value) => made.value = value, () => {
      if (this.#cached.get(name) === made) this.#cached.delete(name);
    });
    putNewest(this.#cached, name, made, MAX_CACHED);
    return made.token;
  }

  /** The server did not accept it. A newer one stays. */
  forget(location: string, mode: Mode, token: string): void {
    const name = nameOf(location, mode);
    if (this.#cached.get(name)?.value === token) this.#cached.delete(name);
  }

  /** Forgets all of them. */
  forgetAll(): void {
    this.#cached.clear();
  }
}

function nameOf(location: string, mode: Mode): string {
  return `${mode} ${location}`;
}
