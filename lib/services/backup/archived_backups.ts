// Backups of the control plane in the archive, below its prefix:
//   kv/<taken>-<random>/part-<number>-<sha256>   4 MB of the file of a backup, zstd
//   kv/<taken>-<random>/whole-<parts>-<sha256>   last: how many parts there are; the sum is of their sums
// One without its last object is none.
import { ConfigError } from "../../core/errors.ts";
import { DAY_MS, HOUR_MS, isoTime } from "../../core/clock.ts";
import { digestOf } from "../../tenant/archive/digest.ts";
import { believedMs } from "../../tenant/archive/prune_archive.ts";
import { readPart } from "../../tenant/archive/file_parts.ts";
import type { ObjectStore, ReadObjects } from "../../tenant/object_store.ts";
import { pack, unpack } from "../../tenant/archive/packed.ts";
import { writeAll } from "../../store/write_all.ts";

/** A backup in the archive. */
export interface ArchivedBackup {
  readonly takenAtMs: number;
  /** Keys of its parts in their order, and then of its last object. */
  readonly keys: readonly string[];
  /** Whether all that its last object names is there. */
  readonly isWhole: boolean;
}

const PREFIX = "kv/";
const PART_BYTES = 4 * 1024 * 1024;

/** Writes the file of a backup; its name is given by the last write. Rejects where the store does not answer. */
export async function archiveBackup(store: ObjectStore, path: string, takenAtMs: number): Promise<void> {
  const folder = `${PREFIX}${digits(takenAtMs, 15)}-${crypto.randomUUID().slice(0, 8)}`;
  const sums: string[] = [];
  for (let at = 0;; at += PART_BYTES) {
    const bytes = await readPart(path, at, PART_BYTES);
    if (bytes.length === 0) break;
    const packed = await pack(bytes);
    const sum = digestOf(packed);
    await store.put(`${folder}/part-${digits(sums.length, 8)}-${sum}`, packed);
    sums.push(sum);
  }
  const last = new TextEncoder().encode(`${JSON.stringify({ version: 1, parts: sums.length })}\n`);
  await store.put(`${folder}/whole-${digits(sums.length, 8)}-${sumOf(sums)}`, last);
}

/** All of them, the newest first, also those that are not whole. Rejects where the store does not answer. */
export async function listBackups(store: Pick<ObjectStore, "keys">): Promise<ArchivedBackup[]> {
  const folders = new Map<string, string[]>();
  for await (const key of store.keys(PREFIX)) {
    const [, folder] = /^(kv\/\d{15}-[0-9a-f]{8})\//.exec(key) ?? [];
    if (folder === undefined) continue;
    folders.set(folder, [...folders.get(folder) ?? [], key]);
  }
  return [...folders].map(([folder, keys]) => backupOf(folder, keys.sort()))
    .sort((a, b) => b.takenAtMs - a.takenAtMs);
}

/** Sorted, parts come in their order and the last object behind them. */
function backupOf(folder: string, keys: readonly string[]): ArchivedBackup {
  const takenAtMs = Number(folder.slice(PREFIX.length, PREFIX.length + 15));
  const [, count, sum] = /\/whole-(\d{8})-([0-9a-f]{64})$/.exec(keys.at(-1) ?? "") ?? [];
  const sums = keys.slice(0, -1).map((key, at) =>
    new RegExp(`/part-${digits(at, 8)}-([0-9a-f]{64})$`).exec(key)?.[1] ?? ""
  );
  return { takenAtMs, keys, isWhole: Number(count) === sums.length && sumOf(sums) === sum };
}

/**
 * Brings the newest one that was taken until `untilMs` into a file. Throws `ConfigError` where there is none, or an object of
 * it is lost or altered; rejects where the store does not answer.
 */
export async function bringBackup(
  store: ReadObjects,
  path: string,
  untilMs: number,
): Promise<ArchivedBackup> {
  const whole = (await listBackups(store)).filter(({ isWhole }) => isWhole);
  const found = whole.find(({ takenAtMs }) => takenAtMs <= untilMs);
  const oldest = whole.at(-1);
  if (found === undefined && oldest !== undefined) {
    throw new ConfigError(`Give --at as ${isoTime(oldest.takenAtMs)} or later; no backup there is older`);
  }
  if (found === undefined) {
    throw new ConfigError("Choose another moment or archive; no whole backup of the control plane is there");
  }
  using to = await Deno.open(path, { createNew: true, write: true, mode: 0o600 });
  for (const key of found.keys.slice(0, -1)) {
    const object = await store.get(key);
    if (object === null || digestOf(object.bytes) !== key.slice(-64)) {
      throw new ConfigError(
        `Choose a moment before ${
          isoTime(found.takenAtMs)
        } by --at; an object of that backup is lost or altered`,
      );
    }
    await writeAll(to, unpack(object.bytes, PART_BYTES));
  }
  return found;
}

/** Removes what is not kept, by a time that the store confirms. Rejects where the store does not answer. */
export async function pruneBackups(
  store: Pick<ObjectStore, "keys" | "remove" | "toldMs">,
  { nowMs, keepDays }: { readonly nowMs: number; readonly keepDays: number },
): Promise<void> {
  const backups = await listBackups(store);
  for (const { keys } of surplus(backups, believedMs(store, nowMs), keepDays)) {
    // What makes it whole goes first.
    for (const key of keys.toReversed()) await store.remove(key);
  }
}

/**
 * Those that go, of a list with the newest first: all of the last hour stay, then the last of each hour for a day, then the last
 * of each day; the newest whole one always. One of a time to come was taken while a clock was wrong: it stays until then, and
 * stands for no other.
 */
export function surplus(
  backups: readonly ArchivedBackup[],
  nowMs: number,
  keepDays: number,
): ArchivedBackup[] {
  const seen = new Set<string>();
  return backups.filter(({ takenAtMs, isWhole }) => {
    const ageMs = nowMs - takenAtMs;
    if (ageMs < -HOUR_MS) return false;
    if (ageMs < HOUR_MS) {
      if (isWhole) seen.add("any");
      return false;
    }
    if (!isWhole) return true;
    const stepMs = ageMs < DAY_MS ? HOUR_MS : DAY_MS;
    const step = `${stepMs}:${Math.floor(takenAtMs / stepMs)}`;
    const isNewest = !seen.has("any");
    const stays = isNewest || (ageMs < keepDays * DAY_MS && !seen.has(step));
    seen.add("any").add(step);
    return !stays;
  });
}

function sumOf(sums: readonly string[]): string {
  return digestOf(new TextEncoder().encode(sums.join("")));
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, "0");
}
