// Snapshots and copies of an open file, which hold its committed state.
import type { EarlyCopy } from "./early_copy.ts";
import { snapshotsBeside } from "../../folders_beside.ts";
import { copyDatabase, removeDatabase } from "./file_copy.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Copies the committed state, while nobody writes. `early`: the file has been copied already, if that still holds. */
export function takeSnapshot(file: TenantFile, name: string, early?: EarlyCopy): void {
  const folder = snapshotsBeside(file.path);
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  copyOut(file, `${folder}/${name}.db`, early);
}

/** Copies the committed state to `path`, while nobody writes. */
export function copyOut(file: TenantFile, path: string, early?: EarlyCopy): void {
  // While a connection is open here, no other process folds the log into the file when it closes its own.
  file.writer();
  copyDatabase(file.path, path, early);
}

/** Removes a snapshot. */
export function dropSnapshot(file: TenantFile, name: string): void {
  removeDatabase(`${snapshotsBeside(file.path)}/${name}.db`);
}
