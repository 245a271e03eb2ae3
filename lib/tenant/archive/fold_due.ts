// When a log begins and when it is folded into its file, and whether the log's file keeps its length then.
import { logReaches } from "../log_length.ts";
import { ifThere } from "../../store/if_there.ts";
import type { ArchivedStore, FoldForm } from "./archived_store.ts";

/** Bytes of a log from which it is folded in; of the log's file of a database that nobody writes any more. */
const FOLD_BYTES = 16 * 1024 * 1024;
const IDLE_BYTES = 512 * 1024;
/** The longest file that is kept: whoever copies the database reads all of it. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** How the log at `path` is to be folded in; null: it is not yet. `isWritten`: somebody writes the database just now. */
export async function foldDue(
  path: string,
  { isWritten }: { readonly isWritten: boolean },
): Promise<FoldForm | null> {
  const bytes = (await Deno.stat(path).catch(() => null))?.size ?? 0;
  if (!isWritten) return bytes > IDLE_BYTES ? { keeps: false } : null;
  return logReaches(path, FOLD_BYTES) ? { keeps: bytes <= KEPT_BYTES } : null;
}

/** Gives a file at rest its log, which changes the file: before its base is read. */
export async function wakeFile(
  databases: Pick<ArchivedStore, "pathOf" | "holding">,
  databaseId: string,
): Promise<void> {
  if (await ifThere(Deno.stat(`${databases.pathOf(databaseId)}-wal`)) !== null) return;
  await databases.holding(databaseId, async (fold) => void await fold({ keeps: true }));
}
