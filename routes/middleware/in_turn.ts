// Several middlewares as one.
import type { MiddlewareHandler, Next } from "hono";
import type { Env } from "../http/env.ts";

/**
 * Runs the second middleware as the `next` of the first. The framework would do the same, but two of its functions wait for each
 * middleware that it calls itself, which shows in a point read. The first one has to return what its `next` returns, or to
 * throw: otherwise an answer of the second is lost.
 */
export function inTurn<Path extends string>(
  first: MiddlewareHandler<Env, Path>,
  second: MiddlewareHandler<Env, Path>,
): MiddlewareHandler<Env, Path> {
  // Guarantee: the framework accepts an answer of the second from the first, though the type of `next` has none.
  return (c, next) => first(c, (() => second(c, next)) as Next);
}
