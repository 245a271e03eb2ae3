/** The middle one of these numbers, of an even count the upper one of the two; NaN without any. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN;
}
