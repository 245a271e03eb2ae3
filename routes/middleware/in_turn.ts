// Several middlewares as one.
import type { MiddlewareHandler, Next } from "hono";
import type { Env } from "../http/env.ts";

/**
 * Runs the second middleware inside the first, as the framework would. For each that the framework calls itself, two more
 * functions wait for the answer of a point read. Only for a first one that answers what its `next` does, or throws.
 */
export function inTurn<Path extends string>(
  first: MiddlewareHandler<Env, Path>,
  second: MiddlewareHandler<Env, Path>,
): MiddlewareHandler<Env, Path> {
  // Guarantee: the framework takes what the last one has answered, and the first one hands it on.
  return (c, next) => first(c, (() => second(c, next)) as Next);
}
