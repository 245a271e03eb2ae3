// What statements would touch, in the form in which it travels between the service and an engine child.
import type { EngineFacts } from "../../../sql/grammar/statement_facts.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { TypedColumn } from "../../../engine/typed_result.ts";

/** What statements would touch, in the form in which it travels. */
export interface Inspected {
  readonly v: number;
  readonly facts: readonly EngineFacts[];
  readonly f: EngineFailure | null;
  /** Where databases of that schema share what they know of it. */
  readonly schema?: string | undefined;
  /** Of the last statement, where they were asked for. */
  readonly cols?: readonly TypedColumn[];
}
