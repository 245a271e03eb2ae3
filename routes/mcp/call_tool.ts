// Runs a tool for a client: finds it, the database and the arguments, and answers failures as something to mend.
import { AppError, type Issue } from "../../lib/core/errors.ts";
import { refuseRounded } from "../../lib/guard/parse_json.ts";
import { roleAtLeast } from "../../lib/core/role.ts";
import { failureAnswer, type McpAnswer } from "./tools/answer.ts";
import { invalidParams, settled } from "./failure_boundary.ts";
import { findTarget, readAddress } from "./find_target.ts";
import { messageOf, nextStep } from "./next_steps.ts";
import { approvalIdOf } from "../../lib/query/hold_call.ts";
import type { DatabaseCall, DatabaseTool, Prepared, Tool } from "./tools/tool.ts";
import { toolTable } from "./tools/tool_table.ts";
import { addressingOf, connectionRole, type McpVisit } from "./tools/visit.ts";

/** The tool, where the connection has it. Errors: the protocol's, which says what role has it, if any. */
export function findTool(visit: McpVisit, name: string): Tool {
  const found = toolTable.get(name);
  if (found === undefined) {
    throw invalidParams("Call a tool that tools/list lists; this name is not among them");
  }
  const role = connectionRole(visit);
  if (roleAtLeast(role, found.role)) return found;
  throw invalidParams(
    `Connect with the role ${found.role} for this tool; tools/list has none that a connection with ${role} may not call`,
  );
}

/** A tool's call as the client sends it. */
export interface AskedCall {
  readonly tool: Tool;
  readonly given: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** A call about a database that a rule has held, and what has to be asked of a person. */
export interface HeldFailure {
  readonly error: AppError;
  readonly approvalId: string;
}

/** What came of a call. `held` where a person has to decide before it runs. */
export interface ToolOutcome {
  readonly answer: McpAnswer;
  readonly held: HeldFailure | null;
}

/** Never throws: what fails is an answer. */
export async function callTool(visit: McpVisit, { tool, given, signal }: AskedCall): Promise<ToolOutcome> {
  return await answering(visit, tool, async () => {
    if (tool.database === "none") return await start(tool.prepare(given), [])({ visit, signal });
    const { call, run } = await prepareCall(visit, { tool, given, signal });
    return await run(call);
  });
}

/** The answer of the work, or of its failure. */
export async function answering(
  visit: McpVisit,
  tool: Tool,
  work: () => Promise<McpAnswer>,
): Promise<ToolOutcome> {
  const outcome = await settled(visit, async () => {
    // A number of the arguments that is not what was sent is a wrong argument, which the agent can mend.
    refuseRounded(visit.body);
    return await work();
  });
  if (outcome.ok) return { answer: outcome.value, held: null };
  const { error } = outcome;
  const approvalId = approvalIdOf(error);
  return {
    answer: failureOf(visit, tool, { error, approvalId }),
    held: approvalId === null ? null : { error, approvalId },
  };
}

/** Errors: `validation_failed` with every wrong argument, those of `findTarget`. */
export async function prepareCall(
  visit: McpVisit,
  { tool, given, signal }: AskedCall & { readonly tool: DatabaseTool },
): Promise<{ readonly call: DatabaseCall; readonly run: (call: DatabaseCall) => Promise<McpAnswer> }> {
  const { path, rest, beside, issues } = readAddress(tool, await addressingOf(visit), given);
  const run = start(tool.prepare(rest, beside), issues);
  const call = { visit, signal, target: await findTarget(visit, tool, path ?? "") };
  return { call, run };
}

function start<Call>(prepared: Prepared<Call>, issues: readonly Issue[]): (call: Call) => Promise<McpAnswer> {
  const wrong = [...issues, ...(prepared.ok ? [] : prepared.issues)];
  if (!prepared.ok || wrong.length > 0) throw new AppError("validation_failed", { issues: wrong });
  return prepared.run;
}

function failureOf(
  visit: McpVisit,
  { name }: Tool,
  { error, approvalId }: { readonly error: AppError; readonly approvalId: string | null },
): McpAnswer {
  const call = { tool: name, connection: connectionRole(visit) };
  return failureAnswer(error, {
    error: messageOf(error, call),
    hint: nextStep(error, call),
    ...(approvalId === null ? {} : { approvalId }),
    ...(error.code === "internal" ? { requestId: visit.requestId } : {}),
  });
}
