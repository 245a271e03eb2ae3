// What a backup's child is told to do in its folder.

/** The work of one child. */
export type BackupJob =
  /** Makes `backupFiles.backup` of the control plane at `kv`, which others may be writing. */
  | { readonly do: "back up"; readonly kv: string; readonly formatJson: string; readonly atMs: number }
  /** Copies the control plane at `kv` into `backupFiles.copy`: one file, with all that was committed. */
  | { readonly do: "copy"; readonly kv: string }
  /** Folds the log of the control plane at `kv`, which nobody else has open, into its file. */
  | { readonly do: "fold"; readonly kv: string };

/** Names in the folder. */
export const backupFiles = { backup: "backup.tar", copy: "kv.sqlite3" } as const;

/** How the child ends. */
export const backupExits = { done: 0, fault: 1, noRoom: 2, damaged: 3 } as const;
