// Puts a control plane from its backup in place, on a data folder that no service has. Everything is made aside; then one
// rename decides: whatever ends the process before leaves what was there, whatever ends it afterwards what was restored.
import { isoTime } from "../../core/clock.ts";
import type { Clock } from "../../core/clock.ts";
import { ConfigError } from "../../core/errors.ts";
import { folderOf } from "../../core/folder_of.ts";
import { callerId, callerName } from "../../access/caller.ts";
import { actRecord, Audit, SERVICE_AUDIT } from "../../control/audit.ts";
import { claimDataDir } from "../../store/claim_data_dir.ts";
import { noteFormat, requireKnownFormat } from "../../store/data_format.ts";
import { keepPrivate } from "../../store/keep_private.ts";
import { withLifetimes } from "../../store/lifetimes.ts";
import { syncPath } from "../../tenant/local/files/tenant_paths.ts";
import { backupFiles } from "./backup_job.ts";
import { checkMoney } from "./check_money.ts";
import { type KnownDatabase, knownDatabases } from "./known_databases.ts";
import { requireSound, runBackupChild } from "./run_backup_child.ts";
import { unpackBackup } from "./unpack_backup.ts";
import { type Voided, voidRevived } from "./void_revived.ts";
import { isThere, removeIfThere } from "../../store/if_there.ts";

/** How it is restored. */
export interface RestoreOptions {
  readonly dataDir: string;
  /** Whether a control plane that is there may be replaced; it is kept beside. */
  readonly replace: boolean;
  readonly revokeTokens: boolean;
  /** Whether it is tried beside the service that it is a backup of: its webhooks are switched off. */
  readonly rehearsal: boolean;
  readonly openKv: (path: string) => Promise<Deno.Kv>;
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Brings databases whose files are missing, before the control plane is in place. */
  readonly bringDatabases?: (known: readonly KnownDatabase[]) => Promise<void>;
  /** Told of each step that is about to be taken. */
  readonly step?: (name: "unpack" | "void" | "copy" | "keep" | "put" | "note") => void;
}

/** What was restored. */
export interface Restored {
  readonly takenAt: string;
  readonly voided: Voided;
  /** The path of the one that was replaced; null: there was none. */
  readonly kept: string | null;
  /** What is wrong with its money. */
  readonly wrong: readonly string[];
  readonly known: readonly KnownDatabase[];
}

const ASIDE = "restoring";

/**
 * Errors: `ConfigError` where the folder is in use, has a control plane that may not be replaced, or the file is no backup;
 * `storage_full`, `backup_failed`, those of `bringDatabases`.
 */
export async function restoreBackup(path: string, options: RestoreOptions): Promise<Restored> {
  const { dataDir, replace, environment, step = () => {} } = options;
  const claim = await claimDataDir(dataDir);
  const kvPath = `${dataDir}/kv.sqlite3`;
  const aside = `${dataDir}/${ASIDE}`;
  try {
    await requireKnownFormat(dataDir);
    if (await isThere(kvPath) && !replace) {
      throw new ConfigError(
        `Name another DATA_DIR, or add --replace: ${dataDir} has a control plane, which would be kept beside`,
      );
    }
    // What a restore has left that was killed.
    await removeIfThere(aside);
    await Deno.mkdir(`${aside}/ready`, { recursive: true, mode: 0o700 });
    step("unpack");
    const unpacked = await unpackBackup(path, aside);
    step("void");
    const prepared = await prepare(unpacked.kvPath, unpacked.format.takenAt, options);
    await options.bringDatabases?.(prepared.known);
    step("copy");
    const place = { folder: `${aside}/ready`, environment };
    requireSound(await runBackupChild({ do: "copy", kv: unpacked.kvPath }, place));
    const kept = await putInPlace(`${aside}/ready/${backupFiles.copy}`, kvPath, options);
    step("note");
    await noteFormat(dataDir);
    await removeIfThere(aside);
    claim.close();
    return { ...prepared, takenAt: unpacked.format.takenAt, kept };
  } catch (error) {
    await removeIfThere(aside).catch(() => {});
    await claim.undo();
    throw error;
  }
}

/** Takes out of it what must not come back, while nobody knows of it. */
async function prepare(
  kvPath: string,
  takenAt: string,
  { openKv, clock, revokeTokens, rehearsal }: RestoreOptions,
): Promise<Pick<Restored, "voided" | "wrong" | "known">> {
  const kv = await openKv(kvPath);
  try {
    const { wrong } = await checkMoney(kv);
    const voided = await voidRevived(kv, { clock, revokeTokens, rehearsal });
    const operator = { kind: "operator" } as const;
    const by = { actor: callerId(operator), actorName: callerName(operator) };
    const act = { action: "backup.restored", facts: { takenAt, revokeTokens } } as const;
    const record = actRecord(clock.now(), { namespaceId: SERVICE_AUDIT, ...by, ...act });
    await new Audit(withLifetimes(kv, clock)).add(record);
    return { voided, wrong, known: await knownDatabases(kv) };
  } finally {
    kv.close();
  }
}

/** Answers where the one that was there is kept; null: there was none. */
async function putInPlace(
  ready: string,
  kvPath: string,
  { clock, environment, dataDir, step = () => {} }: RestoreOptions,
): Promise<string | null> {
  await keepPrivate(ready);
  await syncPath(ready);
  step("keep");
  let kept: string | null = null;
  if (await isThere(kvPath)) {
    // With its log folded in it is one file, which a rename replaces whole. A damaged one cannot be, and is kept with its log.
    const folder = folderOf(ready);
    await runBackupChild({ do: "fold", kv: kvPath }, { folder, environment });
    await keepPrivate(kvPath);
    kept = `${kvPath}.before-${isoTime(clock.now()).replaceAll(/[:.]/g, "-")}`;
    for (const end of ["", "-wal"]) {
      if (await isThere(kvPath + end)) await Deno.link(kvPath + end, kept + end);
    }
  }
  // Whose log this is, the file that comes is not.
  for (const end of ["-wal", "-shm"]) await removeIfThere(kvPath + end);
  step("put");
  await Deno.rename(ready, kvPath);
  await syncPath(dataDir);
  return kept;
}
