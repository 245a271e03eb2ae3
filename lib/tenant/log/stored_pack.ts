// Packs of log rows that are on the disk alone: of each only what tells where it is, and what the bound of its log needs.
import type { LogValues } from "../log_columns.ts";
import type { Pack } from "./packed_rows.ts";

/** Bytes of memory of one, with the text of its id. */
const STORED_BYTES = 150;

/** Where the records of packs are. */
export interface PackRecords {
  /** The number of the spool's file. */
  readonly number: number;
  /** The rows of a record of so many bytes; none, which a warning says, where it cannot be read any more. */
  rows(offset: number, length: number): LogValues[];
}

/** What is known of a pack without its record. */
export interface PackHead {
  /** Columns of its rows. */
  readonly width: number;
  readonly count: number;
  readonly lastId: string;
  /** Of the values of all rows. */
  readonly valueBytes: number;
}

/** A pack whose rows are read when somebody takes them. */
export class StoredPack implements Pack {
  readonly bytes = STORED_BYTES;
  readonly width: number;
  readonly count: number;
  readonly lastId: string;
  readonly valueBytes: number;

  /** `offset` and `length`: of its record, in bytes. */
  constructor(
    head: PackHead,
    private readonly records: PackRecords,
    private readonly offset: number,
    private readonly length: number,
  ) {
    this.width = head.width;
    this.count = head.count;
    this.lastId = head.lastId;
    this.valueBytes = head.valueBytes;
  }

  get file(): number {
    return this.records.number;
  }

  /** Rows that come later belong into another pack. */
  add(): number {
    return 0;
  }

  rows(): LogValues[] {
    return this.records.rows(this.offset, this.length);
  }

  /** The file is removed as a whole. */
  giveBack(): void {}
}

/** What an earlier process has left of a database in one file of the spool. */
export interface LeftInSpool {
  readonly rows: readonly LogValues[];
  readonly packs: readonly StoredPack[];
  readonly file: number;
}
