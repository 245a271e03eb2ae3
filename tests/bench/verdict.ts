// What may be concluded from a run: nothing where others used the machine, or where the yardstick itself was unsteady.

/** A ratio of two servers: of each round by itself, so that drift of the machine hits both. */
export interface Ratio {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** The part of all processors that others may use, and by how much a server's rate may differ from round to round. */
const OTHERS = 0.05;
const UNSTEADY = 0.25;

/** Null where there is no round with both. */
export function ratioOf(rates: readonly number[], base: readonly number[]): Ratio | null {
  const ratios = rates.flatMap((rate, round) => {
    const other = base[round];
    return other === undefined || other === 0 ? [] : [rate / other];
  }).sort((a, b) => a - b);
  const [least] = ratios;
  const most = ratios.at(-1);
  if (least === undefined || most === undefined) return null;
  return { median: medianOf(ratios), least, most };
}

/** The middle of the numbers; between the two in the middle where there is none. */
export function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const middle = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? middle : ((sorted[half - 1] ?? 0) + middle) / 2;
}

/** What may have spoilt a run. */
export interface Noise {
  /** The part of all processors that others used while it was measured; null: not known. */
  readonly othersPart: number | null;
  /** Requests a second of the yardstick in each round, by case. */
  readonly yardstick: Readonly<Record<string, readonly number[]>>;
}

/** Why nothing may be concluded; empty where something may. */
export function disturbances({ othersPart, yardstick }: Noise): string[] {
  const found: string[] = [];
  if (othersPart === null) found.push("how much others computed is not known here");
  else if (othersPart > OTHERS) found.push(`others used ${percent(othersPart)} of the processors`);
  for (const [name, rates] of Object.entries(yardstick)) {
    const spread = (Math.max(...rates) - Math.min(...rates)) / medianOf(rates);
    if (spread > UNSTEADY) {
      found.push(`the yardstick differed by ${percent(spread)} between rounds of ${name}`);
    }
  }
  return found;
}

/** `0.42 (0.40 to 0.45)`. */
export function ratioText({ median, least, most }: Ratio): string {
  return `${median.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`;
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}
