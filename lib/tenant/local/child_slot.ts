// A place for one engine child in the pool, and what it is doing.
import type { EngineChild } from "./engine_child.ts";
import type { Flight } from "./jobs.ts";

export interface ChildSlot {
  readonly child: EngineChild;
  flight: Flight | null;
  /** Databases to close in this child before other work, each with what waits for it. */
  readonly toClose: { readonly databaseId: string; readonly closed: () => void }[];
  lastUsedMs: number;
  /** It has worked since the last sweep of unused databases. */
  dirty: boolean;
  /** No new work: it is being ended. */
  leaving: boolean;
}
