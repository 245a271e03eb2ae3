// Values between JSON and SQL (contract 4).

/** A bound parameter as it travels to the engine: JSON with blobs as `{ "$blob": base64 }`, booleans already 0/1. */
export type SqlParameter = string | number | null | { readonly $blob: string };

/** Booleans bind as 0 and 1; everything else travels as it is. */
export function toSqlParameter(value: SqlParameter | boolean): SqlParameter {
  return typeof value === "boolean" ? Number(value) : value;
}
