// Typed input of a route: reads one part of the request, checks it against a zod schema, and gives that schema to the
// OpenAPI generator. So what is documented is what is enforced.
import type { Context, MiddlewareHandler, Next } from "hono";
import { uniqueSymbol } from "hono-openapi";
import { z } from "zod";
import { describedSchema } from "../http/described_schema.ts";
import { AppError, type Issue } from "../../lib/core/errors.ts";
import { parseJson } from "../../lib/guard/parse_json.ts";
import type { Env } from "../http/env.ts";
import { bodyText } from "./body_text.ts";
import { issuesOf, readWith } from "./issues.ts";

/** The parts of a request that a route can read. */
export type InputTarget = "json" | "query" | "param";

/** How hono types `c.req.valid(target)` from a schema. */
export interface ValidInput<Target extends InputTarget, Schema extends z.ZodType> {
  in: { [K in Target]: z.input<Schema> };
  out: { [K in Target]: z.output<Schema> };
}

/**
 * Middleware that makes `c.req.valid(target)` hold the checked input. A body counts as JSON whatever its
 * Content-Type. Errors: `invalid_json`, `validation_failed` with `issues`, `payload_too_large`, `request_timeout`.
 */
export function validate<Target extends InputTarget, Schema extends z.ZodType, Path extends string = string>(
  target: Target,
  schema: Schema,
): MiddlewareHandler<Env, Path, ValidInput<Target, Schema>> {
  const middleware: MiddlewareHandler<Env, Path, ValidInput<Target, Schema>> = async (c, next) => {
    c.req.addValidatedData(target, plainObject(await readInput(c, target, schema)));
    await next();
  };
  return described(middleware, target, schema);
}

/**
 * Stands behind the handler of a route that reads its JSON itself, and only describes it: a point read passes one function
 * that waits less.
 */
export function describeInput(schema: z.ZodType): MiddlewareHandler<Env> {
  return described((_c, next) => next(), "json", schema);
}

/** With what the OpenAPI generator looks for in a handler. */
function described<Handler extends object>(
  handler: Handler,
  target: InputTarget,
  schema: z.ZodType,
): Handler {
  return Object.assign(handler, { [uniqueSymbol]: { target, ...describedSchema(schema) } });
}

/** The input of a route that reads it itself. Errors: as `validate`. */
export function readInput<Schema extends z.ZodType>(
  c: Context<Env>,
  target: InputTarget,
  schema: Schema,
): z.output<Schema> | Promise<z.output<Schema>> {
  switch (target) {
    case "json":
      return bodyText(c).then((text) => checked(schema, jsonOf(text, schema)));
    case "query":
      return checked(schema, readQuery(new URL(c.req.url).searchParams));
    case "param":
      return checked(schema, c.req.param());
  }
}

/** The input as the schema reads it. Errors: `validation_failed`. */
export function checked<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const read = readWith(schema, input);
  if (!read.ok) throw new AppError("validation_failed", { issues: read.issues });
  return read.data;
}

const nothing = z.strictObject({}).optional();

/**
 * For a call that takes no body and documents none: a body would be ignored, so it is refused. None and `{}` pass.
 * Errors: as `validate`.
 */
export async function noBody(c: Context<Env>, next: Next): Promise<void> {
  checked(nothing, jsonOf(await bodyText(c), nothing));
  await next();
}

function jsonOf(text: string, schema: z.ZodType): unknown {
  if (text !== "") return parseJson(text);
  if (schema.safeParse(undefined).success) return undefined;
  const message = "Send a body of JSON; this request has none";
  const issues = issuesOf(schema, {});
  throw new AppError("invalid_json", { message, ...(issues.length > 0 ? { issues } : {}) });
}

/** Refuses a repeated name: which one counts would be a guess. */
function readQuery(parameters: URLSearchParams): Record<string, string> {
  const input: Record<string, string> = {};
  const issues: Issue[] = [];
  for (const [name, value] of parameters) {
    if (Object.hasOwn(input, name)) issues.push({ path: name, message: "Send this parameter once" });
    Object.defineProperty(input, name, { value, enumerable: true, configurable: true, writable: true });
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues });
  return input;
}

/** Hono's type wants an object; it also stores the output of a schema that is none (an absent optional body). */
function plainObject(value: unknown): object {
  return value as object;
}
