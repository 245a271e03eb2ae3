// What a tool is: its words, its arguments, the least role that may use it, and what it calls.
import { z } from "zod";
import type { Target } from "../../../lib/access/resolve_target.ts";
import type { Issue } from "../../../lib/core/errors.ts";
import type { Role } from "../../../lib/core/role.ts";
import { readWith } from "../../middleware/issues.ts";
import type { McpAnswer } from "./answer.ts";
import type { McpVisit } from "./visit.ts";
import { withoutLeftOut } from "./without_left_out.ts";

/** What clients are told of a tool, so that they can ask their user before it runs. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

const closed = { openWorldHint: false } as const;

/** The kinds of tools. */
export const hints = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, ...closed },
  /** Adds something that can be left alone. */
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, ...closed },
  /** Changes or removes what there is. */
  changes: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, ...closed },
} as const satisfies Record<string, ToolHints>;

/** A call of a tool. */
export interface VisitCall {
  readonly visit: McpVisit;
  /** Aborted when the client has gone or has cancelled. */
  readonly signal: AbortSignal;
}

/** A call about a database: with the role that the caller has there. */
export interface DatabaseCall extends VisitCall {
  readonly target: Target;
}

/** What has become of the arguments: nothing runs with wrong ones. */
export type Prepared<Call> =
  | { readonly ok: true; readonly run: (call: Call) => Promise<McpAnswer> }
  | { readonly ok: false; readonly issues: readonly Issue[] };

interface ToolWords {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The least role that it is for: below it, it is neither listed nor run. */
  readonly role: Role;
  readonly hints: ToolHints;
}

/** What the table of tools holds. */
export type Tool = DatabaseTool | VisitTool;

interface Prepares<Call> extends ToolWords {
  readonly input: z.ZodObject;
  /** `beside`: the argument that names the database, where there is one; it was taken out of those given. */
  readonly prepare: (given: unknown, beside?: readonly string[]) => Prepared<Call>;
}

/** `any`: about a database or a branch; `trunk`: never about a branch. */
export interface DatabaseTool extends Prepares<DatabaseCall> {
  readonly database: "any" | "trunk";
}

/** About no database. */
export interface VisitTool extends Prepares<VisitCall> {
  readonly database: "none";
}

interface Work<Call, Shape extends z.ZodRawShape> extends ToolWords {
  readonly input: Shape;
  readonly run: (call: Call, input: z.output<z.ZodObject<Shape, z.core.$strict>>) => Promise<McpAnswer>;
}

/** A tool about a database. */
export function tool<Shape extends z.ZodRawShape>(
  { database, ...work }: Work<DatabaseCall, Shape> & Pick<DatabaseTool, "database">,
): DatabaseTool {
  return { database, ...prepares(work) };
}

/** A tool about no database. */
export function visitTool<Shape extends z.ZodRawShape>(work: Work<VisitCall, Shape>): VisitTool {
  return { database: "none", ...prepares(work) };
}

function prepares<Call, Shape extends z.ZodRawShape>(
  { input, run, ...words }: Work<Call, Shape>,
): Prepares<Call> {
  const schema = z.strictObject(input);
  return {
    ...words,
    input: schema,
    prepare: (given, beside = []) => {
      const read = readWith(schema, withoutLeftOut(schema, given), beside);
      if (!read.ok) return { ok: false, issues: read.issues };
      return { ok: true, run: (call) => run(call, read.data) };
    },
  };
}
