// A backup of the control plane for the operator, as a stream.
import { requireFresh, requireOperator } from "../../access/caller.ts";
import type { Config } from "../../config.ts";
import { SERVICE_AUDIT } from "../../control/audit.ts";
import { AppError } from "../../core/errors.ts";
import { noteAct } from "../note_act.ts";
import type { ManageContext } from "../manage_context.ts";
import { clientStream } from "../transfer/client_stream.ts";
import { makeBackup } from "./run_backup_child.ts";
import { removeIfThere } from "../../store/if_there.ts";

/** What this needs of a request. */
export interface BackupContext extends ManageContext {
  /** The file of KV, where it is a file. */
  readonly kvFile?: string;
  readonly config: Pick<Config, "dataDir" | "engineEnvironment">;
}

/** A backup on its way. */
export interface TakenBackup {
  readonly atMs: number;
  readonly sizeBytes: number;
  readonly body: ReadableStream<Uint8Array>;
}

/** In the data folder: where they are made. Emptied at a start. */
export const BACKUPS_FOLDER = "backups";
/** Backups of a process that are made or sent at a time: each takes as much of the disk as the control plane. */
const AT_ONCE = 2;
let running = 0;

/**
 * Makes one and sends it. Its file has no name any more when the first byte goes out: whatever ends the process or the
 * client, the disk has its room back. Errors: `operator_required`, `sign_in_again`, `backup_elsewhere`, `too_many_transfers`,
 * those of `makeBackup`.
 */
export async function takeBackup(ctx: BackupContext): Promise<TakenBackup> {
  const { caller, clock, kvFile, config } = ctx;
  requireOperator(caller);
  requireFresh(caller, clock.now());
  if (kvFile === undefined) throw new AppError("backup_elsewhere");
  if (running >= AT_ONCE) {
    throw new AppError("too_many_transfers", {
      message: "Try again when one of them has ended; two backups run",
    });
  }
  running++;
  try {
    const atMs = clock.now();
    const file = await openBackup(kvFile, atMs, config);
    try {
      const { size: sizeBytes } = await file.stat();
      const act = { namespaceId: SERVICE_AUDIT, facts: { sizeBytes } };
      await noteAct(ctx, "backup.taken", act);
      return { atMs, sizeBytes, body: streamOf(file) };
    } catch (error) {
      // Without a name it would take its room of the disk as long as it is open.
      file.close();
      throw error;
    }
  } catch (error) {
    running--;
    throw error;
  }
}

async function openBackup(
  kvFile: string,
  atMs: number,
  { dataDir, engineEnvironment: environment }: BackupContext["config"],
): Promise<Deno.FsFile> {
  const folder = `${dataDir}/${BACKUPS_FOLDER}/${crypto.randomUUID()}`;
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    return await Deno.open(await makeBackup(kvFile, atMs, { folder, environment }));
  } catch (error) {
    if (Reflect.get(Object(error), "code") === "ENOSPC") throw new AppError("storage_full");
    throw error;
  } finally {
    await removeIfThere(folder);
  }
}

function streamOf(file: Deno.FsFile): ReadableStream<Uint8Array> {
  return clientStream({
    kept: { readers: 0, sentBytes: 0, breakOff: null },
    read: async (into) => await file.read(into) ?? 0,
    done: () => Promise.resolve(null),
    close: () => {
      file.close();
      running--;
    },
  });
}
