// What a call costs, in whole nano-dollars. One table; routes/docs/money.md quotes it.

/** Prices by unit. */
export const priceNanoUsd = {
  /** USD 0.50 a million requests. */
  request: 500,
  /** USD 0.005 a million rows read. */
  rowRead: 5,
  /** USD 2.00 a million rows written. */
  rowWritten: 2000,
} as const;

/** A price for each unit. */
export type Prices = { readonly [Unit in keyof typeof priceNanoUsd]: number };

/** The price of one request that has read and written these rows. */
export function costNanoUsd(rowsRead: number, rowsWritten: number, prices: Prices = priceNanoUsd): number {
  return prices.request + rowsRead * prices.rowRead + rowsWritten * prices.rowWritten;
}

/** The prices of a call; of those of one request only the first pays for the request. */
export function pricesOf({ opensRequest = true }: { readonly opensRequest?: boolean }): Prices {
  return opensRequest ? priceNanoUsd : { ...priceNanoUsd, request: 0 };
}

/** The nearest whole nano-dollar. */
export function toNanoUsd(usd: number): number {
  return Math.round(usd * 1e9);
}

/** Converts nano-dollars to dollars for answers, exact in the decimals of a nano-dollar. */
export function toUsd(nanoUsd: number): number {
  return nanoUsd / 1e9;
}
