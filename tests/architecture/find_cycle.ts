// Looks for a way back from a file to itself.

/** The first cycle as the files on it, the first one repeated at the end; null when there is none. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  for (const start of graph.keys()) {
    const cycle = walk(start, { graph, done, path: [] });
    if (cycle !== null) return cycle;
  }
  return null;
}

interface Walk {
  readonly graph: ReadonlyMap<string, readonly string[]>;
  /** Files from which no cycle can be reached. */
  readonly done: Set<string>;
  readonly path: readonly string[];
}

function walk(file: string, at: Walk): string[] | null {
  const seen = at.path.indexOf(file);
  if (seen >= 0) return [...at.path.slice(seen), file];
  if (at.done.has(file)) return null;
  for (const next of at.graph.get(file) ?? []) {
    const cycle = walk(next, { ...at, path: [...at.path, file] });
    if (cycle !== null) return cycle;
  }
  at.done.add(file);
  return null;
}
