// The doctor: what is wrong or unclear in a schema, each with what to run against it.
import { isoTime } from "../../core/clock.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { damagedDatabase, isDamaged } from "./doctor/damaged_database.ts";
import { diagnose } from "./doctor/diagnose.ts";
import type { Address, EndpointFacts } from "./doctor/examined.ts";
import type { Finding } from "./doctor/finding.ts";
import type { ProbeMemory } from "./doctor/probe_memory.ts";
import { readExamined } from "./doctor/read_examined.ts";

export interface DoctorInput {
  readonly address: Address;
  /** Published ones. */
  readonly endpoints: () => Promise<readonly EndpointFacts[]>;
  readonly memory: ProbeMemory;
}

export interface DoctorResult {
  readonly findings: readonly Finding[];
  readonly tablesScanned: number;
  /** ISO 8601. */
  readonly generatedAt: string;
}

/**
 * Findings in an order in which all their suggestions may be run; of a database that cannot be read, that alone. Errors:
 * those of the pipeline.
 */
export async function examineSchema(ctx: StatementsContext, input: DoctorInput): Promise<DoctorResult> {
  const { memory, address } = input;
  const generatedAt = isoTime(ctx.clock.now());
  try {
    const endpoints = await input.endpoints();
    const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
    const examined = { ...await readExamined(ctx, memory), address, endpoints, rules };
    return { findings: diagnose(examined), tablesScanned: examined.schema.tables.length, generatedAt };
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return { findings: [await damagedDatabase(ctx, address)], tablesScanned: 0, generatedAt };
  }
}
