// What a copy of a database is made of.

/** The state that a new database starts with. `Log` is `LogIdentity` of the tenant store. */
export interface CopySource<Log> {
  readonly databaseId: string;
  /** The label of a snapshot; null for the present state. */
  readonly snapshot: string | null;
  /** The first rows of the copy's log and audit trail. */
  readonly log?: Log;
}
