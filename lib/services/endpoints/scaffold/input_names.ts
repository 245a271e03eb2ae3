// The inputs that stand for columns: names that the specification allows, each once.
import { plainName } from "./plain_name.ts";

const MAX_LENGTH = 41;

/** One name for each column, in order. A column whose own name is allowed keeps it. */
export function inputNames(columns: readonly string[], taken: ReadonlySet<string> = new Set()): string[] {
  const used = new Set(taken);
  const own = columns.map((name) => /^[a-z][a-z0-9_]{0,40}$/.test(name) ? name : null);
  for (const name of own) if (name !== null) used.add(name);
  return columns.map((column, at) => own[at] ?? newName(column, used));
}

function newName(column: string, used: Set<string>): string {
  const plain = plainName(column);
  const base = (/^[a-z]/.test(plain) ? plain : plain === "" ? "column" : `c_${plain}`).slice(0, MAX_LENGTH);
  let name = base;
  for (let number = 2; used.has(name); number++) {
    const suffix = `_${number}`;
    name = base.slice(0, MAX_LENGTH - suffix.length) + suffix;
  }
  used.add(name);
  return name;
}
