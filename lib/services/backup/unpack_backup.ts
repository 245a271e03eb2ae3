// Takes a backup apart. What it says of its version is read before anything else; nothing of a file that is cut or altered is
// left.
import { reasonOf } from "../../core/attempt.ts";
import { createHash } from "node:crypto";
import { ConfigError } from "../../core/errors.ts";
import { readFormat } from "../../store/data_format.ts";
import { type BackupFormat, memberNames, paddingOf, readTarHead, sumsText, TAR_BLOCK } from "./tar.ts";
import { writeAll } from "../../store/write_all.ts";

/** A backup that was taken apart. */
export interface UnpackedBackup {
  readonly format: BackupFormat;
  /** The control plane: a file that Deno KV opens. */
  readonly kvPath: string;
}

const PIECE = 1024 * 1024;
/** Bytes of the two small members. */
const MOST_TEXT = 64 * 1024;

/**
 * Writes the control plane into `folder`. Throws `ConfigError` with one sentence: where there is no such file, it is of a newer
 * version, cut, altered, or something else.
 */
export async function unpackBackup(path: string, folder: string): Promise<UnpackedBackup> {
  using file = await openBackup(path);
  const formatText = await readText(file, memberNames.format);
  const format: BackupFormat = { ...readFormat(formatText), takenAt: takenAtOf(formatText) };
  const { sizeBytes } = await readHead(file, memberNames.kv);
  const kvPath = `${folder}/${memberNames.kv}`;
  try {
    const kv = await copyMember(file, sizeBytes, kvPath);
    const sums = sumsText({ format: createHash("sha256").update(formatText).digest("hex"), kv });
    if (await readText(file, memberNames.sums) !== sums) throw altered();
    const end = await readBlock(file, 2 * TAR_BLOCK);
    if (end.some((byte) => byte !== 0) || await file.read(new Uint8Array(1)) !== null) throw altered();
  } catch (error) {
    await Deno.remove(kvPath).catch(() => {});
    throw error;
  }
  return { format, kvPath };
}

async function openBackup(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path);
  } catch (error) {
    throw new ConfigError(`Name a backup that can be read; opening ${path} failed (${reasonOf(error)})`);
  }
}

/** Guarantee: the text is a format's. */
function takenAtOf(text: string): string {
  const { takenAt }: Partial<BackupFormat> = JSON.parse(text);
  if (typeof takenAt !== "string" || Number.isNaN(Date.parse(takenAt))) throw altered();
  return takenAt;
}

async function readHead(file: Deno.FsFile, name: string): Promise<{ readonly sizeBytes: number }> {
  const member = readTarHead(await readBlock(file, TAR_BLOCK));
  if (member === null || member.name !== name) throw altered();
  return member;
}

async function readText(file: Deno.FsFile, name: string): Promise<string> {
  const { sizeBytes } = await readHead(file, name);
  if (sizeBytes > MOST_TEXT) throw altered();
  const bytes = await readBlock(file, sizeBytes);
  await readBlock(file, paddingOf(sizeBytes));
  return new TextDecoder().decode(bytes);
}

/** Answers its SHA-256. */
async function copyMember(file: Deno.FsFile, sizeBytes: number, path: string): Promise<string> {
  using to = await Deno.open(path, { createNew: true, write: true, mode: 0o600 });
  const hash = createHash("sha256");
  for (let left = sizeBytes; left > 0;) {
    const piece = await readBlock(file, Math.min(PIECE, left));
    hash.update(piece);
    await writeAll(to, piece);
    left -= piece.length;
  }
  await readBlock(file, paddingOf(sizeBytes));
  await to.sync();
  return hash.digest("hex");
}

async function readBlock(file: Deno.FsFile, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = await file.read(bytes.subarray(at));
    if (count === null) throw altered();
    at += count;
  }
  return bytes;
}

function altered(): ConfigError {
  return new ConfigError("Take another backup; this file is cut, altered or none, and nothing was changed");
}
