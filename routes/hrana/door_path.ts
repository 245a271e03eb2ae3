// What the path of a libSQL client means. Clients put their own segments behind the URL that they were given, and those that
// resolve them against it lose its last segment where it does not end with a slash.

/** A path under `/hrana/<namespace>/`. */
export interface DoorPath {
  /** `<slug>` or `<slug>@<ref>`; null: the one that the token reaches. */
  readonly database: string | null;
  /** What is asked for, `execute` and `batch` by clients of version 1; null: a socket. */
  readonly call: "version" | "pipeline" | "cursor" | "execute" | "batch" | null;
}

/**
 * Reads `<database>[/<anything>]/[v2|v3[/pipeline|/cursor]]`, or `v1/execute` and `v1/batch` there, and the same without the
 * database; one free segment behind it may be lost with the slash, and a second slash stands before the version where a client
 * adds one to a URL that ends with it. Null for any other path.
 */
export function readDoorPath(rest: string): DoorPath | null {
  const parts = rest.split("/");
  if (parts.at(-1) === "") parts.pop();
  const at = parts.findLastIndex((part, index) =>
    isVersion(part, parts[index + 1]) && index >= parts.length - 2
  );
  const names = at < 0 ? parts : parts.slice(0, at);
  if (at > 0 && names.at(-1) === "") names.pop();
  const call = at < 0 ? null : callOf(parts[at] ?? "", parts[at + 1]);
  return call === undefined ? null : pathOf(names, call);
}

/** Reads the path of a socket, behind which no client puts anything: a database may be called `v2`. Null for any other path. */
export function readSocketPath(rest: string): DoorPath | null {
  const names = rest.split("/");
  if (names.at(-1) === "") names.pop();
  return pathOf(names, null);
}

function pathOf(names: readonly string[], call: DoorPath["call"]): DoorPath | null {
  if (names.length > 2 || names.some((name) => name === "")) return null;
  return { database: names[0] ?? null, call };
}

function isVersion(part: string, call: string | undefined): boolean {
  return part === "v2" || part === "v3" || (part === "v1" && (call === "execute" || call === "batch"));
}

/** Undefined: there is no such call. */
function callOf(version: string, call: string | undefined): DoorPath["call"] | undefined {
  if (call === undefined) return "version";
  if (version === "v1") return call === "batch" ? "batch" : "execute";
  if (call === "pipeline") return "pipeline";
  return call === "cursor" && version === "v3" ? "cursor" : undefined;
}
