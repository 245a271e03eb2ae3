// SQL that the service runs in a tenant's database for itself.
import type { SqlParameter } from "../sql/words/sql_value.ts";

/** A statement of the service's own, which runs without checks. */
export interface ServiceStatement {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
}
