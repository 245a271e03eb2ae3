// In which groups test files run, and in which order.
import { slowFiles, slowFolders } from "./slow_files.ts";
import type { TestRuns } from "./wide_sweeps.ts";

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

/** Of groups that one process runs: to load the whole app takes half a second of the processor. */
const JOINED_SECONDS = 40;

/**
 * A group for each slow file, for each file of the browser's and for each folder, the small ones together, in the order in
 * which they should start: the longest first.
 */
export function groupsOf({ files, onSqld }: TestRuns): TestGroup[] {
  return [files, onSqld].flatMap((paths, at) => joined(inFolders(paths, at === 1)))
    .sort((a, b) => b.seconds - a.seconds);
}

/** With what it takes, about. */
interface TimedGroup extends TestGroup {
  readonly seconds: number;
}

function inFolders(files: readonly string[], onSqld: boolean): TimedGroup[] {
  const byName = Map.groupBy(
    files,
    (path) => path in slowFiles || folderOf(path) === BROWSER ? path : folderOf(path),
  );
  return [...byName].map(([folder, paths]) => {
    const name = onSqld ? `${folder} on sqld` : folder;
    const waits = slowFiles[folder]?.waits ?? false;
    return { name, paths, onSqld, waits, seconds: secondsOf(name, paths) };
  });
}

function secondsOf(name: string, paths: readonly string[]): number {
  const [path = ""] = paths;
  const known = slowFiles[path]?.seconds ?? slowFolders[name];
  return known ?? (folderOf(path) === BROWSER ? BROWSER_SECONDS : paths.length);
}

/** Small ones are put together, one behind the other, those that wait apart from those that compute. */
function joined(groups: readonly TimedGroup[]): TimedGroup[] {
  const together: TimedGroup[] = [];
  for (const group of groups) {
    const { name, paths, seconds } = group;
    const at = together.findIndex((other) =>
      other.waits === group.waits && other.seconds + seconds <= JOINED_SECONDS && !isOfBrowser(group) &&
      !isOfBrowser(other)
    );
    const other = together[at];
    if (other === undefined) together.push(group);
    else {
      together[at] = {
        ...other,
        name: `${other.name}, ${name}`,
        paths: [...other.paths, ...paths],
        seconds: other.seconds + seconds,
      };
    }
  }
  return together;
}

function isOfBrowser({ paths: [path = ""] }: TestGroup): boolean {
  return folderOf(path) === BROWSER;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
