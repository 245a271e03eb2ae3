// What a transfer child is told to do, and what it leaves behind: files in its folder, because its output is the work
// itself.

/** The work of one child, which has one folder and nothing else. */
export type TransferJob = /** Writes the copy to standard output, or as a file of its own (`sqlite`). */
  | {
    readonly do: "export";
    readonly format: ExportFormat;
    /** Null: the whole database. */
    readonly table: string | null;
    readonly safe: boolean;
  }
  /** Reads the stranger's file `transferFiles.upload`, and writes items to standard output. */
  | { readonly do: "read"; readonly format: "sqlite" | "sql" }
  /** Builds the copy of a database that is elsewhere, of the items that come in. */
  | { readonly do: "copy" }
  /** Builds a database of the items that come in. */
  | { readonly do: "build"; readonly looseReferences: boolean };

/** The forms of an export. */
export type ExportFormat = "sqlite" | "sql" | "csv" | "ndjson";

/** The names of files in a child's folder. */
export const transferFiles = {
  /** What a client has sent. */
  upload: "upload",
  /** The copy of the database. */
  copy: "copy.sqlite",
  /** The database built anew. */
  built: "built.sqlite",
  report: "report.json",
} as const;

/** How far the work is; the last report says how it ended. */
export interface TransferReport {
  readonly state: "running" | "done" | "failed";
  readonly tables: number;
  readonly rows: number;
  readonly notKept: readonly string[];
  /** What was wrong, and where in what was read. */
  readonly failure?: { readonly message: string; readonly at: string | null; readonly kind: FailureKind };
}

/**
 * `refused`: what was asked for, or what was read, cannot be done; `damaged`: what was read is no whole database; `room`: the
 * disk or the memory is full; `ended`: somebody else ended the process, as a system without memory or a stop of the service does;
 * `fault`: anything else.
 */
export type FailureKind = "refused" | "damaged" | "room" | "ended" | "fault";
