// The schema that a transaction over several requests sees: that of the database until the transaction has changed it, then
// its own, read on its stream.
import type { SchemaGate } from "../gate/schema_gate.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { schemaInside } from "./run_inside.ts";
import type { TransactionStream } from "./transaction_stream.ts";

/** What has to be known of it between two requests. */
export interface RestingSchema {
  /** The engine's version with which the transaction began, and what is added to it; null: it has not begun. */
  readonly began: readonly [engineVersion: number, base: number] | null;
  readonly changed: boolean;
}

/** The schema of one transaction. */
export class TransactionSchema {
  #resting: RestingSchema;
  /** Null: to be read. */
  #gate: SchemaGate | null = null;

  constructor(
    private readonly connection: RemoteConnection,
    private readonly stream: TransactionStream,
    rested: RestingSchema = { began: null, changed: false },
  ) {
    this.#resting = rested;
  }

  get resting(): RestingSchema {
    return this.#resting;
  }

  get changed(): boolean {
    return this.#resting.changed;
  }

  /** Notes with which schema the transaction has begun. */
  begin({ version, schema: { engineVersion } }: SchemaGate): void {
    this.#resting = { began: [engineVersion, version - engineVersion], changed: false };
  }

  /** Notes that the transaction has changed it. */
  change(): void {
    this.#resting = { ...this.#resting, changed: true };
    this.#gate = null;
  }

  /** Notes that a change of it may be undone. */
  undone(): void {
    if (this.changed) this.#gate = null;
  }

  /** Throws `RemoteFailure` and `Stopped`. */
  async now(): Promise<SchemaGate> {
    if (this.#gate) return this.#gate;
    const known = await this.connection.schemaGate();
    const { began, changed } = this.#resting;
    if (began === null) return known;
    const [engineVersion, base] = began;
    const isKnown = !changed && known.version === base + engineVersion;
    return this.#gate = isKnown ? known : await schemaInside(this.connection, this.stream, base);
  }
}
