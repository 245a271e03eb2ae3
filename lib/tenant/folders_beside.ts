// The folders beside a database's file, as the service and the engine children name them.

/** The folder of the snapshots of the file at `path` (`….db`). */
export function snapshotsBeside(path: string): string {
  return `${bare(path)}.snapshots`;
}

/** The folder of the damaged files that restores of the file at `path` have set aside. */
export function damagedBeside(path: string): string {
  return `${bare(path)}.damaged`;
}

function bare(path: string): string {
  return path.slice(0, -".db".length);
}
