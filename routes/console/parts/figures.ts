// Numbers as people read them.

/** Made once: to make one for each number takes longer than the page around it. */
const wholes = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Dollars: cents above a cent, and as many digits as are needed below. */
export function usd(amount: number): string {
  if (amount === 0 || Math.abs(amount) >= 0.01) {
    return `${amount < 0 ? "-" : ""}$${cents.format(Math.abs(amount))}`;
  }
  const digits = Math.min(10, Math.ceil(-Math.log10(Math.abs(amount))) + 1);
  return `${amount < 0 ? "-" : ""}$${Math.abs(amount).toFixed(digits)}`;
}

/** Whole numbers with commas. */
export function whole(count: number): string {
  return wholes.format(count);
}

/** "1 row", "34 rows". */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** The same of a list; where that has several pages, this one is not all of it. `here`: path and query of the page. */
export function countedHere(
  count: number,
  one: string,
  { here, nextCursor }: { readonly here: string; readonly nextCursor: string | null },
): string {
  const only = nextCursor === null && !/[?&]after=/.test(here);
  return `${counted(count, one)}${only ? "" : " on this page"}`;
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** "3.1 MB". */
export function bytes(size: number): string {
  let [value, unit] = [size, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
