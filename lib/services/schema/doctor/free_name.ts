// A name that nothing has yet.
import { foldName } from "../../../sql/fold_name.ts";

/** `wanted`, or the first of `wanted_2`, `wanted_3`, … that is not taken. `taken` holds folded names. */
export function freeName(taken: ReadonlySet<string>, wanted: string): string {
  let name = wanted;
  for (let number = 2; taken.has(foldName(name)); number++) name = `${wanted}_${number}`;
  return name;
}
