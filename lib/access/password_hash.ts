// Passwords of end users: PBKDF2-SHA256 in threads of the runtime, a bounded number at once. The stored format is
// `pbkdf2_sha256$<iterations>$<salt_b64>$<hash_b64>`.
import { AppError } from "../core/errors.ts";
import { equalBytes } from "./token_format.ts";

/** Iterations of a new hash, unless a hasher has others. */
const ITERATIONS = 210_000;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Bytes of one SHA-256 block: each block of a hash costs all the iterations again. */
const BLOCK_BYTES = 32;
/**
 * Iterations that a stored hash may have. Imported hashes may differ from ours, but none may keep a thread busy for
 * seconds.
 */
const MAX_ITERATIONS = 1_000_000;
const STORED = /^pbkdf2_sha256\$([1-9]\d{0,6})\$([A-Za-z0-9+/=]{1,128})\$([A-Za-z0-9+/=]{1,128})$/;

/** Code points of a password after NFKC. */
const MIN_LENGTH = 8;
const MAX_LENGTH = 1024;
/** What is said of a new password that has another length. */
export const PASSWORD_BOUNDS = `Send ${MIN_LENGTH} to ${MAX_LENGTH} characters`;
/** Code units before NFKC; a longer text is too long in any case. */
const MAX_UNITS = 8192;

/** How much may be computed at once. */
export interface HashBounds {
  /** Hashes that are computed at once. */
  readonly running: number;
  /** Hashes that run or wait: in all, and for one owner. */
  readonly admitted: number;
  readonly admittedOfOwner: number;
}

/** The form in which a password is hashed; null when it is no text or too long to be read. */
export function normalPassword(password: string): string | null {
  if (password.length > MAX_UNITS || !password.isWellFormed()) return null;
  return password.normalize("NFKC");
}

/** The same for a new password; null when it is too short or too long for one. Imported passwords may be either. */
export function newPassword(password: string): string | null {
  const normal = normalPassword(password);
  if (normal === null) return null;
  const length = [...normal].length;
  return length >= MIN_LENGTH && length <= MAX_LENGTH ? normal : null;
}

/**
 * The hasher of a process. Errors of every method: `hashing_busy`. `owner` is the namespace, which may not take all
 * slots.
 */
export class PasswordHasher {
  #running = 0;
  #admitted = 0;
  readonly #byOwner = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];

  /** The hash with which an unknown user's password is compared. */
  readonly #nobody: StoredHash;

  /** `iterations` of a new hash; a verification takes as long as these do. */
  constructor(private readonly bounds: HashBounds, private readonly iterations = ITERATIONS) {
    this.#nobody = { iterations, salt: new Uint8Array(SALT_BYTES), hash: new Uint8Array(HASH_BYTES) };
  }

  /** The stored form of a password in its normal form. */
  async hash(owner: string, password: string): Promise<string> {
    const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
    const hash = await this.#inTurn(owner, () => derive(password, salt, this.iterations, HASH_BYTES));
    return `pbkdf2_sha256$${this.iterations}$${salt.toBase64()}$${hash.toBase64()}`;
  }

  /**
   * Whether a password in its normal form belongs to a stored hash. It takes as long when there is no hash (`stored`
   * is null or in another format) or no password, and not less for a hash that was imported with fewer iterations.
   */
  async verify(owner: string, password: string | null, stored: string | null): Promise<boolean> {
    const known = stored === null ? null : readStored(stored);
    const { iterations, salt, hash } = known ?? this.#nobody;
    const derived = await this.#inTurn(owner, async () => {
      const derived = await derive(password ?? "", salt, iterations, hash.length);
      const missing = this.iterations - totalIterations(iterations, hash.length);
      if (missing > 0) await derive(password ?? "", salt, missing, BLOCK_BYTES);
      return derived;
    });
    return equalBytes(derived, hash) && known !== null && password !== null;
  }

  async #inTurn<Value>(owner: string, work: () => Promise<Value>): Promise<Value> {
    const { running, admitted, admittedOfOwner } = this.bounds;
    const own = this.#byOwner.get(owner) ?? 0;
    if (this.#admitted >= admitted || own >= admittedOfOwner) throw new AppError("hashing_busy");
    this.#admitted++;
    this.#byOwner.set(owner, own + 1);
    try {
      if (this.#running >= running) await new Promise<void>((turn) => this.#waiting.push(turn));
      else this.#running++;
      return await work();
    } finally {
      this.#leave(owner);
    }
  }

  /** The caller that has waited longest gets the slot. */
  #leave(owner: string): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
    this.#admitted--;
    const left = (this.#byOwner.get(owner) ?? 1) - 1;
    if (left > 0) this.#byOwner.set(owner, left);
    else this.#byOwner.delete(owner);
  }
}

/** Characters of a mark. */
const MARK_LENGTH = 12;

/**
 * A part of a stored hash that tells it from every other of its user, and nothing about the password: `$` and the
 * beginning of the salt. Null for what is no hash.
 */
export function passwordMark(stored: string | null): string | null {
  const salt = stored === null ? undefined : STORED.exec(stored)?.[2];
  return salt === undefined ? null : `$${salt.slice(0, MARK_LENGTH)}`;
}

interface StoredHash {
  readonly iterations: number;
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly hash: Uint8Array<ArrayBuffer>;
}

function totalIterations(iterations: number, hashBytes: number): number {
  return iterations * Math.ceil(hashBytes / BLOCK_BYTES);
}

function readStored(stored: string): StoredHash | null {
  const [, iterations = "", salt = "", hash = ""] = STORED.exec(stored) ?? [];
  try {
    const read = {
      iterations: Number(iterations),
      salt: Uint8Array.fromBase64(salt),
      hash: Uint8Array.fromBase64(hash),
    };
    const bounded = totalIterations(read.iterations, read.hash.length) <= MAX_ITERATIONS;
    return bounded && read.hash.length >= 16 ? read : null;
  } catch {
    return null;
  }
}

async function derive(
  password: string,
  salt: Uint8Array<ArrayBuffer>,
  iterations: number,
  hashBytes: number,
): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, [
    "deriveBits",
  ]);
  const parameters = { name: "PBKDF2", hash: "SHA-256", salt, iterations };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, hashBytes * 8));
}
