// An authenticator in software, with a browser around it: answers what `navigator.credentials` would, and lies where a
// test wants it to.
import type { BrowserAnswer } from "../../lib/services/people/verify_passkey.ts";

export interface Asked {
  /** base64url. */
  readonly challenge: string;
  /** At a registration. */
  readonly user?: { readonly id: string };
}

/** What the browser says about itself and the authenticator about its user, where it differs from the truth. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  /** False: nobody has touched a finger to it, or typed a code. */
  readonly verified?: boolean;
  readonly userHandle?: string;
  readonly counter?: number;
  readonly type?: string;
}

export interface PasskeyPlace {
  readonly origin: string;
  readonly rpId: string;
}

const UP = 0x01;
const UV = 0x04;
const AT = 0x40;

const encode = (bytes: Uint8Array) => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
const utf8 = (text: string) => new TextEncoder().encode(text);

/** One passkey. `make` registers it, `sign` uses it. */
export class SoftwarePasskey {
  readonly #id = crypto.getRandomValues(new Uint8Array(32));
  #userHandle = "";
  #counter = 0;

  private constructor(private readonly place: PasskeyPlace, private readonly pair: CryptoKeyPair) {}

  static async in(place: PasskeyPlace): Promise<SoftwarePasskey> {
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
      "sign",
      "verify",
    ]);
    return new SoftwarePasskey(place, pair);
  }

  /** The answer to a registration. */
  async make(asked: Asked, lies: Lies = {}): Promise<BrowserAnswer> {
    this.#userHandle = asked.user?.id ?? "";
    const jwk = await crypto.subtle.exportKey("jwk", this.pair.publicKey);
    const [x, y] = [jwk.x ?? "", jwk.y ?? ""].map((one) =>
      Uint8Array.fromBase64(one, { alphabet: "base64url" })
    );
    if (x === undefined || y === undefined) throw new Error("no key");
    const cose = cborMap([[1, 2], [3, -7], [-1, 1], [-2, x], [-3, y]]);
    const data = join(
      await this.#head(AT, lies),
      new Uint8Array(16),
      uint16(this.#id.length),
      this.#id,
      cose,
    );
    const attestation = cborMap([["fmt", "none"], ["attStmt", null], ["authData", data]]);
    return this.#answer({
      clientDataJSON: encode(this.#clientData(lies.type ?? "webauthn.create", asked.challenge, lies)),
      attestationObject: encode(attestation),
      transports: ["internal"],
    });
  }

  /** The answer to a sign-in or a confirmation. */
  async sign(asked: Asked, lies: Lies = {}): Promise<BrowserAnswer> {
    const data = await this.#head(0, lies);
    const client = this.#clientData(lies.type ?? "webauthn.get", asked.challenge, lies);
    const signed = join(data, new Uint8Array(await crypto.subtle.digest("SHA-256", client)));
    const raw = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, this.pair.privateKey, signed);
    return this.#answer({
      clientDataJSON: encode(client),
      authenticatorData: encode(data),
      signature: encode(derSignature(new Uint8Array(raw))),
      userHandle: lies.userHandle ?? this.#userHandle,
    });
  }

  #answer(response: BrowserAnswer["response"]): BrowserAnswer {
    const id = encode(this.#id);
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  #clientData(type: string, challenge: string, { origin }: Lies): Uint8Array<ArrayBuffer> {
    const said = { type, challenge, origin: origin ?? this.place.origin, crossOrigin: false };
    return utf8(JSON.stringify(said));
  }

  async #head(more: number, { rpId, verified = true, counter }: Lies): Promise<Uint8Array<ArrayBuffer>> {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(rpId ?? this.place.rpId)));
    this.#counter = counter ?? this.#counter + 1;
    return join(hash, Uint8Array.of(UP | (verified ? UV : 0) | more), uint32(this.#counter));
  }
}

function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value & 255);
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

type CborValue = number | string | Uint8Array | null;

/** Null: an empty map. Numbers are below 24 in size, texts shorter than 24, bytes from 24 to 65,535. */
function cborMap(entries: readonly (readonly [CborValue, CborValue])[]): Uint8Array<ArrayBuffer> {
  return join(Uint8Array.of(0xa0 | entries.length), ...entries.flat().map(cbor));
}

function cbor(value: CborValue): Uint8Array {
  if (value === null) return Uint8Array.of(0xa0);
  if (typeof value === "number") return Uint8Array.of(value < 0 ? 0x20 | (-1 - value) : value);
  if (typeof value === "string") return join(Uint8Array.of(0x60 | value.length), utf8(value));
  const length = value.length < 256
    ? Uint8Array.of(0x58, value.length)
    : join(Uint8Array.of(0x59), uint16(value.length));
  return join(length, value);
}

/** From the two halves of a signature to the form of X.509. */
function derSignature(raw: Uint8Array): Uint8Array {
  const parts = [raw.slice(0, 32), raw.slice(32)].map((half) => {
    const start = half.findIndex((byte) => byte !== 0);
    const digits = half.slice(start);
    const positive = (digits[0] ?? 0) > 127 ? join(Uint8Array.of(0), digits) : digits;
    return join(Uint8Array.of(2, positive.length), positive);
  });
  const body = join(...parts);
  return join(Uint8Array.of(0x30, body.length), body);
}
