// Numbers as people read them.

/** Dollars: cents above a cent, and as many digits as are needed below. */
export function usd(amount: number): string {
  if (amount === 0 || Math.abs(amount) >= 0.01) {
    const text = Math.abs(amount).toLocaleString("en-US", {
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
    });
    return `${amount < 0 ? "-" : ""}$${text}`;
  }
  const digits = Math.min(10, Math.ceil(-Math.log10(Math.abs(amount))) + 1);
  return `${amount < 0 ? "-" : ""}$${Math.abs(amount).toFixed(digits)}`;
}

/** Whole numbers with commas. */
export function whole(count: number): string {
  return count.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** "1 row", "34 rows". */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** "3.1 MB". */
export function bytes(size: number): string {
  let [value, unit] = [size, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
