// Where a file is.

/** The folder in which a file is, by its path. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
