// Foreign keys that the engine judges at a commit only, in calls whose statements are to behave as if each had one.
import { BREAKABLE, type BrokenByTable, BrokenCount, COUNT_BROKEN } from "../../engine/broken_count.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { TenantCall } from "../tenant_store.ts";
import type { HranaStep, StepError, StepResult } from "./hrana/hrana.ts";
import { hranaValue, integerOf, stringOf } from "./hrana/remote_values.ts";
import type { SchemaGate } from "./gate/schema_gate.ts";
import { stepFailure } from "./hrana/step_failure.ts";

/** What the engine says at a commit that would leave more references broken than there were. */
export const brokenReference: StepError = {
  ok: false,
  message: "FOREIGN KEY constraint failed",
  code: "SQLITE_CONSTRAINT",
};

export function brokenFailure(): EngineFailure {
  return stepFailure(brokenReference);
}

/** Whether the call may break such a reference. */
export function mayBreak(
  { foreignKeysOff, statements }: TenantCall,
  { hasDeferredConstraints }: SchemaGate,
): boolean {
  if (foreignKeysOff) return false;
  return hasDeferredConstraints || statements.some(({ sql }) => /INITIALLY\s+DEFERRED/i.test(sql));
}

/** Whether each statement of the call is judged by itself. */
export function judgesEach(call: TenantCall, schemaGate: SchemaGate): boolean {
  return !call.atomic && call.statements.length > 1 && mayBreak(call, schemaGate);
}

/** Looks by steps of the transaction that is open. */
export class DeferredReferences {
  #tables: readonly string[] | null = null;
  #count: BrokenCount | null = null;

  constructor(
    private readonly call: Pick<TenantCall, "level" | "auditTables">,
    private readonly look: (steps: readonly HranaStep[]) => Promise<readonly StepResult[]>,
  ) {}

  get broken(): boolean {
    return this.#count?.broken ?? false;
  }

  /** Whether there are more of them than at the look before; the first one tells nothing. */
  async raised(): Promise<boolean> {
    const count = await this.#countBroken();
    if (this.#count !== null) return this.#count.raisedTo(count);
    this.#count = new BrokenCount(count);
    return false;
  }

  async #countBroken(): Promise<BrokenByTable> {
    // What changes the schema may make such a table, or give one another name.
    if (this.#tables === null || this.call.level === "schema") this.#tables = await this.#breakableTables();
    if (this.#tables.length === 0) return [];
    const steps = await this.look(
      this.#tables.map((name) => ({ stmt: { sql: COUNT_BROKEN, args: [hranaValue(name)] } })),
    );
    // A step fails where a key fits no index: the engine refuses each write that has to look there by itself.
    return steps.map((step) => step?.ok ? integerOf(step.rows[0]?.[0]) : null);
  }

  async #breakableTables(): Promise<readonly string[]> {
    const { level, auditTables } = this.call;
    const written = level === "schema" ? null : JSON.stringify(auditTables ?? []);
    const [step] = await this.look([{ stmt: { sql: BREAKABLE, args: [hranaValue(written)] } }]);
    return step?.ok ? step.rows.map(([name]) => stringOf(name)) : [];
  }
}
