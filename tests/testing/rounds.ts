// Tests that repeat one thing against chance (kills, faults of a network, instances that come and go) run some rounds with
// every change, and all of them in `deno task test:long`.
import { isEmbedded } from "./tenant_settings.ts";

/** Set: all rounds are run. */
export const LONG = "TEST_LONG";

/** Set: somebody waits for the run, and continuous integration has all cases. */
export const SHORT = "TEST_SHORT";

/** How many rounds this run has. `every` is how many show that it works at all, `long` how many look for what is rare. */
export function rounds(every: number, long: number): number {
  return Deno.env.get(LONG) ? long : every;
}

/**
 * How many cases this run has, which come one after the other by a seed. In sqld, where each takes several times as long,
 * half of those that the embedded store has.
 */
export function randomCases(every: number): number {
  const isHalf = Boolean(Deno.env.get(SHORT)) || !isEmbedded();
  return rounds(isHalf ? Math.ceil(every / 2) : every, 10 * every);
}

/** Every `nth` of the cases, or all of them: where each pair of two lists is one, each of either list has its turn. */
export function someOf<Case>(cases: readonly Case[], nth: number): readonly Case[] {
  return Deno.env.get(LONG) ? cases : cases.filter((_, at) => at % nth === 0);
}

/** Those of the files that run in rounds, themselves or through a file beside them that they import. */
export async function filesWithRounds(files: readonly string[]): Promise<string[]> {
  const root = new URL("../../", import.meta.url);
  const imports = async (url: URL) =>
    [...(await Deno.readTextFile(url)).matchAll(/ from "(\.[^"]+)";$/gm)]
      .map(([, specifier = ""]) => new URL(specifier, url));
  const isHere = ({ href }: URL) => href === import.meta.url;
  const found: string[] = [];
  for (const path of files) {
    const beside = (await imports(new URL(path, root))).filter(({ href }) =>
      href.startsWith(`${root}tests/`)
    );
    const behind = await Promise.all(beside.filter((url) => !isHere(url)).map(imports));
    if ([...beside, ...behind.flat()].some(isHere)) found.push(path);
  }
  return found;
}
