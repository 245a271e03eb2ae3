// Restores a backup aside and looks at it: its money adds up, and the databases that it knows are there.
import type { ObjectStore } from "../../tenant/object_store.ts";
import { checkArchive, checkFiles } from "./check_databases.ts";
import { checkMoney } from "./check_money.ts";
import { knownDatabases } from "./known_databases.ts";
import { unpackBackup } from "./unpack_backup.ts";

/** Where the databases are looked for. */
export interface VerifyOptions {
  /** Made by the caller, who removes it. */
  readonly folder: string;
  readonly openKv: (path: string) => Promise<Deno.Kv>;
  /** Null: there is no data folder here, or the databases are elsewhere. */
  readonly dataDir: string | null;
  /** Null: nothing is archived. */
  readonly archive: Pick<ObjectStore, "keys"> | null;
}

/** What was found, in lines for whoever runs the command. */
export interface Verified {
  readonly lines: readonly string[];
  readonly wrong: readonly string[];
}

/** Throws `ConfigError` where the file is none; rejects where the archive does not answer. */
export async function verifyBackup(path: string, options: VerifyOptions): Promise<Verified> {
  const { folder, openKv, dataDir, archive } = options;
  const { format, kvPath } = await unpackBackup(path, folder);
  const kv = await openKv(kvPath);
  try {
    const money = await checkMoney(kv);
    const known = await knownDatabases(kv);
    const files = dataDir === null ? null : await checkFiles(known, dataDir);
    const archived = archive === null ? null : await checkArchive(known, archive);
    const lines = [
      `Taken ${format.takenAt}, format ${format.format}, written by ${format.writtenBy}`,
      `Money of ${money.looked} namespaces ${money.wrong.length === 0 ? "adds up" : "does not add up"}`,
      `Databases: ${known.length}, of them ${known.filter(({ isDeleted }) => isDeleted).length} deleted`,
      files === null ? "Files: not compared, there are none here" : `Files: compared with ${dataDir}`,
      archived === null ? "Archive: not compared, ARCHIVE_URL is unset" : "Archive: compared",
    ];
    const wrong = [money, files, archived].flatMap((one) => one?.wrong ?? []);
    return { lines, wrong };
  } finally {
    kv.close();
  }
}
