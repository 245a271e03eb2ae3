// In which groups test files run, and in which order.
import { slowFiles, slowFolders } from "./slow_files.ts";

export interface TestGroup {
  readonly name: string;
  /** Files, from the top of the repository. */
  readonly paths: readonly string[];
  /** With an sqld of its own for the tenants: some tests count all that is there. */
  readonly onSqld: boolean;
  /** Waits for most of its time, so that it runs beside as many groups as there are processors. */
  readonly waits?: boolean;
}

/** Each of its files starts a browser. */
const BROWSER = "tests/browser";
/** What such a file takes where `slowFiles` says nothing of it. */
const BROWSER_SECONDS = 20;

/** A group for each slow file, for each file of the browser's and for each folder, in the order in which they should start: the longest first. */
export function groupsOf(files: readonly string[], onSqld: readonly string[]): TestGroup[] {
  const groups = [files, onSqld].flatMap((paths, at) => inFolders(paths, at === 1));
  const slow = ({ name, paths: [path = ""] }: TestGroup) =>
    slowFiles[path]?.seconds ?? slowFolders[name] ?? (folderOf(path) === BROWSER ? BROWSER_SECONDS : 0);
  return groups.sort((a, b) => slow(b) - slow(a) || b.paths.length - a.paths.length);
}

function inFolders(files: readonly string[], onSqld: boolean): TestGroup[] {
  const byName = new Map<string, string[]>();
  for (const path of files) {
    const name = path in slowFiles || folderOf(path) === BROWSER ? path : folderOf(path);
    byName.set(name, [...byName.get(name) ?? [], path]);
  }
  return [...byName].map(([name, paths]) => ({
    ...{ name: onSqld ? `${name} on sqld` : name, paths, onSqld },
    waits: slowFiles[name]?.waits ?? false,
  }));
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
