// The doctor: what is wrong or unclear in a schema, each finding with a suggestion that can be run.
import { isoTime } from "../../../core/clock.ts";
import { failedWith } from "../../../core/errors.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { diagnose } from "./doctor_checks.ts";
import type { TargetPath } from "../../../access/resolve_target.ts";
import type { EndpointFacts, Finding } from "./examined.ts";
import { readExamined } from "./read_examined.ts";
import type { ProbeMemory } from "./row_probes.ts";
import { databaseCall } from "./suggestions.ts";

/** What the doctor needs beside the database. */
export interface DoctorInput {
  readonly address: TargetPath;
  /** The published endpoints. */
  readonly endpoints: () => Promise<readonly EndpointFacts[]>;
  readonly memory: ProbeMemory;
}

/** The findings of one examination. */
export interface DoctorResult {
  readonly findings: readonly Finding[];
  readonly tablesScanned: number;
  /** ISO 8601. */
  readonly generatedAt: string;
}

/**
 * Findings in an order in which all their suggestions may be run. For a database that cannot be read there is only
 * that finding. Errors: those of the pipeline.
 */
export async function examineSchema(ctx: StatementsContext, input: DoctorInput): Promise<DoctorResult> {
  const { memory, address } = input;
  const generatedAt = isoTime(ctx.clock.now());
  try {
    const endpoints = await input.endpoints();
    const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
    const examined = { ...await readExamined(ctx, memory), address, endpoints, rules };
    return { findings: await diagnose(examined), tablesScanned: examined.schema.tables.length, generatedAt };
  } catch (error) {
    if (!failedWith(error, "database_corrupt")) throw error;
    return { findings: [await damagedDatabase(ctx, address)], tablesScanned: 0, generatedAt };
  }
}

/**
 * The finding for a database whose file cannot be read. It suggests the newest snapshot, which a restore checks
 * before it changes anything; without one, the list of snapshots.
 */
async function damagedDatabase(
  { tenants, target }: StatementsContext,
  address: TargetPath,
): Promise<Finding> {
  const [newest] = await tenants.open(target).snapshots();
  return {
    code: "damaged_database",
    severity: "error",
    table: "",
    column: null,
    message: "The database file is damaged or missing; a restore needs its snapshot only",
    suggestion: newest === undefined
      ? `GET /v1/db/${address.namespaceSlug}/${address.databasePath}/snapshots`
      : databaseCall(address, "POST", "restore", { snapshot: newest.label }),
  };
}
