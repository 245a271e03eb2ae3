// The doctor: what is wrong or unclear in a schema, each with what to run against it.
import { isoTime } from "../../core/clock.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { diagnose } from "./doctor/diagnose.ts";
import type { Address, EndpointFacts } from "./doctor/examined.ts";
import type { Finding } from "./doctor/finding.ts";
import type { ProbeMemory } from "./doctor/probe_memory.ts";
import { readExamined } from "./doctor/read_examined.ts";

export interface DoctorInput {
  readonly address: Address;
  /** Published ones. */
  readonly endpoints: readonly EndpointFacts[];
  readonly memory: ProbeMemory;
}

export interface DoctorResult {
  readonly findings: readonly Finding[];
  readonly tablesScanned: number;
  /** ISO 8601. */
  readonly generatedAt: string;
}

/** Findings in an order in which all their suggestions may be run. Errors: those of the pipeline. */
export async function examineSchema(ctx: StatementsContext, input: DoctorInput): Promise<DoctorResult> {
  const { memory, ...given } = input;
  const examined = { ...await readExamined(ctx, memory), ...given };
  return {
    findings: diagnose(examined),
    tablesScanned: examined.schema.tables.length,
    generatedAt: isoTime(ctx.clock.now()),
  };
}
