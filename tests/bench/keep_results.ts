// The figures of a run as a file of the repository, so that those of one release can be compared with those of another.
import type { BenchFigures } from "./bench_report.ts";

/** Writes them under `tests/bench/results`, unless the run was disturbed. Returns what became of them. */
export async function keepResults(root: string, figures: BenchFigures): Promise<string> {
  if (figures.disturbed.length > 0) return "nothing is kept of a disturbed run";
  const { at, commit } = figures.machine;
  const folder = `${root}tests/bench/results`;
  const path = `${folder}/${at.slice(0, 10)}-${commit.replace("+", "-changed")}.json`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(path, `${JSON.stringify(figures, null, 2)}\n`);
  return `kept as ${path}`;
}
