// Where statements are tried that are to change a schema.
import type { EngineValue } from "../../sql/words/sql_value.ts";

/** An empty database of any SQLite build. */
export interface TrialDatabase {
  /** Throws what the engine throws. */
  exec(sql: string): void;
  internalRows(sql: string, ...params: (string | number | bigint | null)[]): EngineValue[][];
  close(): void;
}

/** Opens an empty database in memory. */
export type OpenTrial = () => TrialDatabase;
