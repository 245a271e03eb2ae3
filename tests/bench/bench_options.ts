// The command line of the benchmarks: `--seconds N --rounds N --only case --peers --json`.

export interface BenchOptions {
  readonly seconds: number;
  readonly rounds: number;
  /** Names of cases; empty: all. */
  readonly only: readonly string[];
  /** Leaves the service out: only what it is compared with. */
  readonly peers: boolean;
  readonly json: boolean;
}

/** `cases` are the names that `--only` may give. Throws on anything unknown: a misspelt option must not measure something else. */
export function benchOptions(args: readonly string[], cases: readonly string[]): BenchOptions {
  const options = { seconds: 5, rounds: 3, only: [] as string[], peers: false, json: false };
  const rest = [...args];
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === "--json") options.json = true;
    else if (name === "--peers") options.peers = true;
    else if (name === "--seconds") options.seconds = positive(name, rest.shift());
    else if (name === "--rounds") options.rounds = positive(name, rest.shift());
    else if (name === "--only") options.only.push(...knownCases(rest.shift() ?? "", cases));
    else throw new TypeError(`Use --seconds, --rounds, --only, --peers or --json; ${name} is unknown`);
  }
  return options;
}

function positive(name: string, text: string | undefined): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`Give ${name} a whole number from 1`);
  return value;
}

function knownCases(text: string, cases: readonly string[]): string[] {
  const names = text.split(",");
  const unknown = names.find((name) => !cases.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`Choose cases among ${cases.join(", ")}; ${unknown} is none`);
  }
  return names;
}
