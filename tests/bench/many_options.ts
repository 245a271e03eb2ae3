// The command line of `many_databases.ts`.

export interface ManyOptions {
  /** Numbers of databases to read over. */
  readonly over: readonly number[];
  readonly seconds: number;
  /** Seconds of the same load before the clock starts. */
  readonly warm: number;
  readonly rounds: number;
  readonly sqld: boolean;
  readonly mixed: boolean;
  /** The clock starts with the first call: most databases are asked for the first time since the start. */
  readonly first: boolean;
  /** Data folder that is kept; null: one of its own, removed at the end. */
  readonly folder: string | null;
}

/** Throws on anything unknown. */
export function readManyOptions(args: readonly string[]): ManyOptions {
  let options: ManyOptions = {
    ...{ over: [30, 600, 2000], seconds: 5, warm: 3, rounds: 1 },
    ...{ sqld: false, mixed: false, first: false, folder: null },
  };
  const rest = [...args];
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const value = () => rest.shift() ?? "";
    if (name === "--sqld") options = { ...options, sqld: true };
    else if (name === "--mixed") options = { ...options, mixed: true };
    else if (name === "--first") options = { ...options, first: true };
    else if (name === "--folder") options = { ...options, folder: value() };
    else if (name === "--over") {
      options = { ...options, over: value().split(",").filter(Boolean).map(positive) };
    } else if (name === "--seconds") options = { ...options, seconds: positive(value()) };
    else if (name === "--warm") options = { ...options, warm: positive(value()) };
    else if (name === "--rounds") options = { ...options, rounds: positive(value()) };
    else {throw new TypeError(
        `Use --over, --seconds, --warm, --rounds, --sqld, --mixed, --first or --folder, not ${name}`,
      );}
  }
  return options;
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 10_000) {
    throw new TypeError(`Give whole numbers from 1 to 10000, not ${text}`);
  }
  return value;
}
