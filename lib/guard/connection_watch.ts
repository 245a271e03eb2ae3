// Ends connections that keep silent or send a head too slowly, without a timer per request: one coarse sweep looks after
// all of them.

export interface ConnectionLimits {
  /** Sweeps that a new connection may take until its first head is whole. */
  readonly headSweeps: number;
  /** Sweeps from the end of an answer until the next head is whole. */
  readonly idleSweeps: number;
  /** Connections open at once. */
  readonly maxOpen: number;
}

/** A connection while it is open. */
export class OpenConnection {
  #answering = 0;
  #wasAsked = false;

  /** `untilSweep`: the last sweep that it lives through while it is silent. */
  constructor(
    readonly end: () => void,
    private untilSweep: number,
    private readonly watch: ConnectionWatch,
  ) {}

  /** A head is whole: nothing but its answer counts. */
  begin(): void {
    if (!this.#wasAsked) this.untilSweep = 0;
    this.#wasAsked = true;
    this.#answering++;
  }

  /** That answer is made, and the next head may take its time. */
  finish(): void {
    this.#answering--;
    this.allow(0);
  }

  /** Receiving the answer that is being made takes the client so many sweeps more. */
  allow(sweeps: number): void {
    this.untilSweep = Math.max(this.untilSweep, this.watch.idleUntil + sweeps);
  }

  get isSilent(): boolean {
    return this.#answering === 0;
  }

  isLate(sweep: number): boolean {
    return this.isSilent && this.untilSweep < sweep;
  }

  /** Whether it goes first where one has to: who has asked nothing, then who has been silent longest. */
  goesBefore(other: OpenConnection): boolean {
    if (this.#wasAsked !== other.#wasAsked) return !this.#wasAsked;
    return this.untilSweep < other.untilSweep;
  }
}

/**
 * Connections that are open. `sweep()` is called at a steady pace by whoever owns the timer. A connection on which a
 * request is being answered is never ended.
 */
export class ConnectionWatch {
  readonly #open = new Set<OpenConnection>();
  #sweep = 0;

  constructor(private readonly limits: ConnectionLimits) {}

  get size(): number {
    return this.#open.size;
  }

  /** The last sweep that a connection lives through which falls silent now. */
  get idleUntil(): number {
    return this.#sweep + this.limits.idleSweeps;
  }

  /** Has to be removed when it has ended. */
  add(end: () => void): OpenConnection {
    const connection = new OpenConnection(end, this.#sweep + this.limits.headSweeps, this);
    this.#open.add(connection);
    return connection;
  }

  remove(connection: OpenConnection): void {
    this.#open.delete(connection);
  }

  /** One step of time. */
  sweep(): void {
    this.#sweep++;
    for (const connection of this.#open) {
      if (connection.isLate(this.#sweep)) this.#end(connection);
    }
  }

  /** Whether one more may be added; where there are too many, a silent one ends for it. */
  hasRoom(): boolean {
    return this.#open.size < this.limits.maxOpen || this.endOne();
  }

  /** Ends the silent connection that goes first. False: on all of them requests are being answered. */
  endOne(): boolean {
    let first: OpenConnection | null = null;
    for (const one of this.#open) {
      if (one.isSilent && (first === null || one.goesBefore(first))) first = one;
    }
    if (first !== null) this.#end(first);
    return first !== null;
  }

  #end(connection: OpenConnection): void {
    this.remove(connection);
    connection.end();
  }
}
