// The form of a backup: a tar file (POSIX ustar) with three members in this order, so that any tar can look into it.
//   format.json   which version can read it, and when it was taken
//   kv.sqlite3    the control plane
//   SHA256SUMS    of both, as `sha256sum -c` reads it
import type { DataFormat } from "../../store/data_format.ts";

/** Bytes of a head, to a multiple of which every member is filled up. */
export const TAR_BLOCK = 512;
/** The members. */
export const memberNames = { format: "format.json", kv: "kv.sqlite3", sums: "SHA256SUMS" } as const;

/** What `format.json` says in a backup. */
export interface BackupFormat extends DataFormat {
  /** ISO 8601: everything that was answered before is in it. */
  readonly takenAt: string;
}

/** A member, as its head tells. */
export interface TarMember {
  readonly name: string;
  readonly sizeBytes: number;
}

/** Where fields of a head stand, and how long they are. */
const fields = {
  name: [0, 100],
  mode: [100, 8],
  owner: [108, 8],
  group: [116, 8],
  size: [124, 12],
  time: [136, 12],
  sum: [148, 8],
  kind: [156, 1],
  magic: [257, 8],
} as const;

/** The head of a file. */
export function tarHead({ name, sizeBytes }: TarMember, atMs: number): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(TAR_BLOCK);
  const put = ([at]: readonly [number, number], text: string) => head.set(new TextEncoder().encode(text), at);
  put(fields.name, name);
  put(fields.mode, "0000600\0");
  put(fields.owner, "0000000\0");
  put(fields.group, "0000000\0");
  put(fields.size, `${octal(sizeBytes)}\0`);
  put(fields.time, `${octal(Math.floor(atMs / 1000))}\0`);
  put(fields.kind, "0");
  put(fields.magic, "ustar\x0000");
  put(fields.sum, `${octal(sumOf(head)).slice(-6)}\0 `);
  return head;
}

/** Reads the head of a file; null: it is none. */
export function readTarHead(head: Uint8Array): TarMember | null {
  const text = ([at, length]: readonly [number, number]) =>
    new TextDecoder().decode(head.subarray(at, at + length)).replace(/\0.*$/s, "");
  if (head.length !== TAR_BLOCK || !text(fields.magic).startsWith("ustar") || text(fields.kind) !== "0") {
    return null;
  }
  if (Number.parseInt(text(fields.sum), 8) !== sumOf(head)) return null;
  const size = text(fields.size);
  return /^[0-7]{11}$/.test(size) ? { name: text(fields.name), sizeBytes: Number.parseInt(size, 8) } : null;
}

/** Bytes behind a member of that size. */
export function paddingOf(sizeBytes: number): number {
  return (TAR_BLOCK - sizeBytes % TAR_BLOCK) % TAR_BLOCK;
}

/** The text of `SHA256SUMS`. */
export function sumsText(sums: { readonly format: string; readonly kv: string }): string {
  return `${sums.format}  ${memberNames.format}\n${sums.kv}  ${memberNames.kv}\n`;
}

/** Eleven digits: up to 8 GB. */
function octal(value: number): string {
  const digits = value.toString(8);
  if (digits.length > 11) throw new RangeError("too large for a tar file");
  return digits.padStart(11, "0");
}

/** The sum of a head's bytes, with spaces in the place of the sum. */
function sumOf(head: Uint8Array): number {
  const [at, length] = fields.sum;
  let sum = 0;
  for (const [index, byte] of head.entries()) sum += index >= at && index < at + length ? 32 : byte;
  return sum;
}
