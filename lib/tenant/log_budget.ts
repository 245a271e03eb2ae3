// Bounds the memory of waiting log rows over all databases, because a disk may stay full for a long time.

type LogValues = readonly (string | number | null)[];

const MAX_BYTES = 64 * 1024 * 1024;
/** Bytes of a row beside its texts. */
const ROW_BYTES = 300;

/** The memory budget of waiting log rows. */
export class LogBudget {
  #bytes = 0;

  constructor(private readonly maxBytes = MAX_BYTES) {}

  /** Reserves room for a row; false where there is none. */
  take(row: LogValues): boolean {
    const bytes = sizeOf(row);
    if (this.#bytes + bytes > this.maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  give(rows: readonly LogValues[]): void {
    for (const row of rows) this.#bytes -= sizeOf(row);
  }
}

function sizeOf(row: LogValues): number {
  let bytes = ROW_BYTES;
  for (const value of row) if (typeof value === "string") bytes += value.length;
  return bytes;
}
