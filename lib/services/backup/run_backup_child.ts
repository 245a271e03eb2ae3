// Runs a backup's child in a folder: the service process holds no SQL engine, and the child may read the control plane and
// write its folder, nothing else.
import { AppError } from "../../core/errors.ts";
import { runJailed } from "../../tenant/jail/run_jailed.ts";
import { backupExits, backupFiles, type BackupJob } from "./backup_job.ts";
import { dataFormat } from "../../store/data_format.ts";
import { isoTime, MINUTE_MS } from "../../core/clock.ts";
import type { BackupFormat } from "./tar.ts";

const HEAP_MB = 128;
/** Milliseconds that one may take. */
const WORK_MS = 30 * MINUTE_MS;

/** What the child needs beside its job. */
export interface BackupPlace {
  /** Its folder. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Makes a backup of the control plane at `kv`, whoever writes it meanwhile; answers its path in the folder. Errors:
 * `storage_full`, `backup_failed`.
 */
export async function makeBackup(kv: string, atMs: number, place: BackupPlace): Promise<string> {
  const format: BackupFormat = { ...dataFormat, takenAt: isoTime(atMs) };
  const formatJson = `${JSON.stringify(format)}\n`;
  requireSound(await runBackupChild({ do: "back up", kv, formatJson, atMs }, place));
  return `${place.folder}/${backupFiles.backup}`;
}

/** What a child found of the control plane's file. */
export type FoundState = "sound" | "damaged";

/** Runs one job, which does nothing with a damaged file. Errors: `storage_full`, `backup_failed`. */
export async function runBackupChild(
  job: BackupJob,
  { folder, environment }: BackupPlace,
): Promise<FoundState> {
  const { code } = await runJailed({
    program: new URL("./child/main.ts", import.meta.url).href,
    folder,
    job,
    ...(job.do === "fold" ? { paths: [job.kv] } : { reads: [job.kv] }),
    environment,
    heapMb: HEAP_MB,
    mostMs: WORK_MS,
  });
  if (code === backupExits.done) return "sound";
  if (code === backupExits.damaged) return "damaged";
  throw new AppError(code === backupExits.noRoom ? "storage_full" : "backup_failed");
}

/** Errors: `backup_failed` where the control plane is damaged. */
export function requireSound(state: FoundState): void {
  if (state === "sound") return;
  throw new AppError("backup_failed", {
    message: "Restore the control plane from an earlier backup; its file is damaged",
  });
}
