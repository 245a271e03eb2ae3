// Protocol Buffers on the wire (protobuf.dev/programming-guides/encoding): fields, lengths, numbers, and nothing above.

/** Writes one message. */
export class MessageWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  unsigned(field: number, value: number | bigint): this {
    this.#varint(BigInt(field << 3));
    this.#varint(BigInt(value));
    return this;
  }

  /** Zigzag, as `sint64`. */
  signed(field: number, value: bigint): this {
    return this.unsigned(field, BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  }

  double(field: number, value: number): this {
    this.#varint(BigInt((field << 3) | 1));
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    return this.#raw(bytes);
  }

  text(field: number, value: string): this {
    return this.data(field, new TextEncoder().encode(value));
  }

  message(field: number, value: MessageWriter): this {
    return this.data(field, value.bytes);
  }

  data(field: number, value: Uint8Array): this {
    this.#varint(BigInt((field << 3) | 2));
    this.#varint(BigInt(value.length));
    return this.#raw(value);
  }

  #varint(value: bigint): void {
    const bytes: number[] = [];
    for (; value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
    bytes.push(Number(value));
    this.#raw(bytes);
  }

  #raw(bytes: ArrayLike<number>): this {
    const needed = this.#length + bytes.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = needed;
    return this;
  }
}

/** One field as it was read: a number as raw bits, or bytes. */
export interface Field {
  readonly number: number;
  readonly bits: bigint;
  readonly bytes: Uint8Array;
}

const NO_BYTES = new Uint8Array();

/** All fields of a message in order. Throws `RangeError` on what is none. */
export function readFields(bytes: Uint8Array): Field[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError("number too long");
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const number = key >> 3;
    switch (key & 7) {
      case 0:
        fields.push({ number, bits: varint(), bytes: NO_BYTES });
        break;
      case 1:
        fields.push({ number, bits: view.getBigUint64(at, true), bytes: NO_BYTES });
        at += 8;
        break;
      case 2: {
        const length = Number(varint());
        if (at + length > bytes.length) throw new RangeError("message cut short");
        fields.push({ number, bits: 0n, bytes: bytes.subarray(at, at + length) });
        at += length;
        break;
      }
      default:
        throw new RangeError("unknown wire type");
    }
  }
  return fields;
}

/** The counterpart of `signed`. */
export function signedOf({ bits }: Field): bigint {
  return BigInt.asIntN(64, (bits >> 1n) ^ -(bits & 1n));
}

export function doubleOf({ bits }: Field): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

export function textOf({ bytes }: Field): string {
  return new TextDecoder().decode(bytes);
}
