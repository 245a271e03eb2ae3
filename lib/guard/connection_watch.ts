// Ends connections that are silent or send a head too slowly, without a timer for each request: one coarse sweep
// watches them all.

/** How long connections may be silent, in sweeps, and how many there may be. */
export interface ConnectionLimits {
  /** Sweeps until the first head of a new connection has arrived. */
  readonly headSweeps: number;
  /** Sweeps from the end of an answer until the next head has arrived. */
  readonly idleSweeps: number;
  /** Connections open at once. */
  readonly maxOpen: number;
}

/** The requests whose bodies have not arrived yet. */
export interface ArrivingBodies {
  /** Refuses the one that has been on its way for longest, whose connection then ends. False: there is none. */
  endFirst(): boolean;
  /** For a stop: resolves once those that are on their way now have arrived or failed, or have had a while for it. */
  arrived(): Promise<void>;
}

/** A connection while it is open. */
export class OpenConnection {
  #answering = 0;
  #wasAsked = false;
  /** It has become a socket, whose owner ends it. */
  isSocket = false;

  /** `untilSweep` is the last sweep that it survives while it is silent. */
  constructor(
    readonly end: () => void,
    private untilSweep: number,
    private readonly watch: ConnectionWatch,
  ) {}

  /** A head has arrived: from now on only its answer counts. */
  begin(): void {
    if (!this.#wasAsked) this.untilSweep = 0;
    this.#wasAsked = true;
    this.#answering++;
  }

  /** The answer is made: now the next head is awaited. */
  finish(): void {
    this.#answering--;
    this.allow(0);
  }

  /** The client may take so many sweeps more to receive the answer. */
  allow(sweeps: number): void {
    this.untilSweep = Math.max(this.untilSweep, this.watch.idleUntil + sweeps);
  }

  get isSilent(): boolean {
    return this.#answering === 0 && !this.isSocket;
  }

  isLate(sweep: number): boolean {
    return this.isSilent && this.untilSweep < sweep;
  }

  /**
   * Whether it is ended before another: connections that have sent no request come first, then those silent for
   * longest.
   */
  goesBefore(other: OpenConnection): boolean {
    if (this.#wasAsked !== other.#wasAsked) return !this.#wasAsked;
    return this.untilSweep < other.untilSweep;
  }
}

/**
 * The open connections. The owner of the timer calls `sweep()` at a steady pace. A connection on which a request is
 * being answered is never ended; one whose request has not arrived whole gives way to others.
 */
export class ConnectionWatch {
  readonly #open = new Set<OpenConnection>();
  #sweep = 0;

  constructor(private readonly limits: ConnectionLimits, private readonly bodies?: ArrivingBodies) {}

  get size(): number {
    return this.#open.size;
  }

  /** The last sweep that a connection survives if it falls silent now. */
  get idleUntil(): number {
    return this.#sweep + this.limits.idleSweeps;
  }

  /** Adds a connection, which its owner removes when it has ended. */
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

  /** Whether one more may be added. Where there are too many, a silent one is ended for it. */
  hasRoom(): boolean {
    return this.#open.size < this.limits.maxOpen || this.endOne();
  }

  /** Ends the first silent connection, or has the slowest body ended. False when requests are being answered on all. */
  endOne(): boolean {
    let first: OpenConnection | null = null;
    for (const one of this.#open) {
      if (one.isSilent && (first === null || one.goesBefore(first))) first = one;
    }
    if (first === null) return this.bodies?.endFirst() ?? false;
    this.#end(first);
    return true;
  }

  #end(connection: OpenConnection): void {
    this.remove(connection);
    connection.end();
  }
}
