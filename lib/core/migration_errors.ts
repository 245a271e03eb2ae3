// The rows of the error table that only migrations answer with.

/** A part of `errorTable`; see there for the members. */
export const migrationErrors = {
  migration_loses_rows: {
    status: 400,
    message: "Delete rows by a DELETE of their table; the migration would lose rows that it does not name",
    retryable: false,
  },
  migration_changed: {
    status: 409,
    message: "Put the file back as it was and write a new one; it was applied with another content",
    retryable: false,
  },
  migration_out_of_order: {
    status: 409,
    message:
      "Give the file a name behind those that are applied; files are applied in the order of their names",
    retryable: false,
  },
} as const;
