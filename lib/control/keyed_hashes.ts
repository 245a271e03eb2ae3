// Hashes by which the service recognises addresses and emails that it must not store, and keys that only it can make:
// HMAC with one secret of the installation, which is made when it is first needed.
import { createHmac } from "node:crypto";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";

const SECRET_BYTES = 32;
/** Hashes cached for callers that come again; emptied when full. */
const MAX_CACHED = 20_000;

/** Every method's errors: `meter_unreachable`, until the secret has been read once. */
export class KeyedHashes {
  #secret: Uint8Array | null = null;
  #reading: Promise<Uint8Array> | null = null;
  readonly #cached = new Map<string, string>();

  constructor(private readonly kv: Deno.Kv) {}

  /** HMAC-SHA-256 of the words, hex. The first word names the purpose, so that no hash serves two. */
  of(...words: readonly string[]): string | Promise<string> {
    if (this.#secret !== null) return hmac(this.#secret, words);
    return this.#read().then((secret) => hmac(secret, words));
  }

  /** The same, cached, for few words that come often. */
  ofFrequent(...words: readonly string[]): string | Promise<string> {
    const name = words.join("\n");
    const cached = this.#cached.get(name);
    if (cached !== undefined) return cached;
    const made = this.of(...words);
    if (typeof made !== "string") return made;
    if (this.#cached.size >= MAX_CACHED) this.#cached.clear();
    this.#cached.set(name, made);
    return made;
  }

  #read(): Promise<Uint8Array> {
    return this.#reading ??= this.#readOrMake().then((secret) => this.#secret = secret)
      .finally(() => this.#reading = null);
  }

  async #readOrMake(): Promise<Uint8Array> {
    return await untilCommitted(async () => {
      const entry = await kvGet(this.kv, keys.hashSecret());
      if (entry.value !== null) return entry.value;
      const made = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
      return await kvCommit(this.kv.atomic().check(entry).set(entry.key, made)) ? made : FASTER;
    });
  }
}

function hmac(secret: Uint8Array, words: readonly string[]): string {
  return createHmac("sha256", secret).update(JSON.stringify(words)).digest("hex");
}
