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

/** Files of small folders that one process runs: to load the whole app takes as long as the tests of such a folder. */
const JOINED_FILES = 25;

/**
 * A group for each slow file, for each file of the browser's, for each folder that takes long and for some of the others
 * together, in the order in which they should start: the longest first.
 */
export function groupsOf(files: readonly string[], onSqld: readonly string[]): TestGroup[] {
  const groups = [files, onSqld].flatMap((paths, at) => joined(inFolders(paths, at === 1)));
  const seconds = ({ name, paths }: TestGroup) => {
    const [path = ""] = paths;
    const known = slowFiles[path]?.seconds ?? slowFolders[name];
    return known ?? (folderOf(path) === BROWSER ? BROWSER_SECONDS : paths.length);
  };
  return groups.sort((a, b) => seconds(b) - seconds(a));
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

/** Small folders are put together, one behind the other. */
function joined(groups: readonly TestGroup[]): TestGroup[] {
  const isSmall = ({ name, paths: [path = ""] }: TestGroup) =>
    !(path in slowFiles) && !(name in slowFolders) && folderOf(path) !== BROWSER;
  const together: TestGroup[] = [];
  for (const group of groups.filter(isSmall)) {
    const last = together.at(-1);
    if (last === undefined || last.paths.length + group.paths.length > JOINED_FILES) together.push(group);
    else {
      together[together.length - 1] = {
        ...last,
        name: `${last.name}, ${group.name}`,
        paths: [...last.paths, ...group.paths],
      };
    }
  }
  return [...groups.filter((group) => !isSmall(group)), ...together];
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
