// Values that a statement takes from a row which an earlier statement of its call has returned.

/** One parameter that is filled while the call runs. */
export interface TakenValue {
  /** Its index among the parameters of the statement. */
  readonly parameter: number;
  /**
   * The column of the first row that the nearest earlier statement with such a column has returned. The engine's case
   * does not count.
   */
  readonly column: string;
}
