// Where files of databases that live elsewhere are read and built: in a folder of this process, by its own children.
import { reasonOf } from "../../core/attempt.ts";
import type { Log } from "../../core/log.ts";
import { sweepFolders } from "./process_folders.ts";
import { TransferRoom } from "./transfer_room.ts";

/** What is needed of the settings. */
export interface TransferSettings {
  readonly dataDir: string;
  /** On a platform without processes. */
  readonly hosted: boolean;
  readonly engineEnvironment: Readonly<Record<string, string>>;
}

/**
 * The room; null where this process may not write there or start children, and so can neither export nor import. Removes what
 * processes that were killed have left: several may work with one folder.
 */
export async function openTransferRoom(
  { dataDir, hosted, engineEnvironment: environment }: TransferSettings,
  log: Log,
): Promise<TransferRoom | null> {
  const place = `${dataDir}/transfers`;
  const needed = [{ name: "read", path: place }, { name: "write", path: place }, { name: "run" }] as const;
  const states = await Promise.all(needed.map((one) => Deno.permissions.query(one)));
  if (hosted || states.some(({ state }) => state !== "granted")) return null;
  try {
    await sweepFolders(place);
  } catch (error) {
    log("warn", "transfers_not_swept", { reason: reasonOf(error) });
  }
  return new TransferRoom({ folder: `${place}/${crypto.randomUUID()}`, isShared: true, environment });
}
