// Where tests and benchmarks write for people to read.

/** Writes one line to standard output, or to standard error when standard output carries JSON. */
export function print(line: string, stream: "stdout" | "stderr" = "stdout"): void {
  Deno[stream].writeSync(new TextEncoder().encode(`${line}\n`));
}
