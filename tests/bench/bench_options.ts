// The command line of the benchmark: `--seconds N --rounds N --only case --against commit --fastify --pocketbase --peers --save --json`.

export interface BenchOptions {
  readonly seconds: number;
  readonly rounds: number;
  /** Names of cases; empty: all. */
  readonly only: readonly string[];
  /** Leaves the service out: only what it is compared with. */
  readonly peers: boolean;
  /** A commit whose service runs beside the present one; null: none. */
  readonly against: string | null;
  /** Measures the do-it-yourself choice too, whose packages it downloads. */
  readonly fastify: boolean;
  /** Measures PocketBase too, which it builds. */
  readonly pocketbase: boolean;
  /** Keeps the figures as a file, unless the run was disturbed. */
  readonly save: boolean;
  readonly json: boolean;
}

/** `cases` are the names that `--only` may give. Throws on anything unknown: a misspelt option must not measure something else. */
export function benchOptions(args: readonly string[], cases: readonly string[]): BenchOptions {
  const options = {
    seconds: 5,
    rounds: 3,
    only: [] as string[],
    peers: false,
    against: null as string | null,
    fastify: false,
    pocketbase: false,
    save: false,
    json: false,
  };
  const rest = [...args];
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === "--json") options.json = true;
    else if (name === "--peers") options.peers = true;
    else if (name === "--fastify") options.fastify = true;
    else if (name === "--pocketbase") options.pocketbase = true;
    else if (name === "--save") options.save = true;
    else if (name === "--against") options.against = given(name, rest.shift());
    else if (name === "--seconds") options.seconds = positive(name, rest.shift());
    else if (name === "--rounds") options.rounds = positive(name, rest.shift());
    else if (name === "--only") options.only.push(...knownCases(rest.shift() ?? "", cases));
    else throw new TypeError(`Use ${NAMES.join(", ")}; ${name} is unknown`);
  }
  if (options.peers && options.against !== null) {
    throw new TypeError("Use --against without --peers, which leaves the service out");
  }
  return options;
}

const NAMES = [
  ...["--seconds", "--rounds", "--only", "--against"],
  ...["--fastify", "--pocketbase", "--peers", "--save", "--json"],
];

function given(name: string, text: string | undefined): string {
  if (text === undefined || text.startsWith("-")) throw new TypeError(`Give ${name} a commit`);
  return text;
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
