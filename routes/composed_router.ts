// One handler in place of all that a request matches: it calls them one inside the other, as the framework would. The framework
// makes a function that waits and two promises for each of them; here a handler that only passes on what its `next`
// returns costs none. That is a tenth of a point read.
import type { Context, Next } from "hono";
import type { Result, Router } from "hono/router";
import type { H, RouterRoute } from "hono/types";
import type { Env } from "./http/env.ts";

/** A handler, and the route that it was registered for. */
type Registered = [H, RouterRoute];
type Handlers = Result<Registered>[0];

/** Makes the answer of a handler that has failed. */
export type FailureAnswer = (error: Error, c: Context<Env>) => Response | Promise<Response>;

/**
 * Answers each match of another router with one handler, which calls all that have matched. What they return or throw means what
 * it means in the framework, and so does that none of them answers. Each sees the parameters of all their paths.
 */
export class ComposedRouter implements Router<Registered> {
  readonly name = "ComposedRouter";
  /** By the handlers of a route, a list that the fast router keeps. */
  readonly #composed = new WeakMap<Handlers, Handlers>();

  constructor(
    private readonly router: Router<Registered>,
    private readonly failureAnswer: FailureAnswer,
  ) {}

  add(method: string, path: string, handler: Registered): void {
    this.router.add(method, path, handler);
  }

  match(method: string, path: string): Result<Registered> {
    const result = this.router.match(method, path);
    const handlers = result[0];
    let composed = this.#composed.get(handlers);
    if (composed === undefined) this.#composed.set(handlers, composed = this.#compose(handlers));
    return (result.length === 1 ? [composed] : [composed, result[1]]) as Result<Registered>;
  }

  /** The route of the one handler is that of the request's own method, if there is one. */
  #compose(handlers: Handlers): Handlers {
    const params = sharedParams(handlers);
    const [[, route] = []] = handlers.find(([[, { method }]]) => method !== "ALL") ?? handlers[0] ?? [];
    if (route === undefined || params === null) return handlers;
    const all = handlers.map(([[handler]]) => handler);
    const composed: H = (c: Context<Env>) =>
      callHandlers({ handlers: all, c, failureAnswer: this.failureAnswer }, 0);
    return [[[composed, route], params]] as Handlers;
  }
}

/** The parameters of all paths; null where two of them mean different parts of the address by one name. */
function sharedParams(handlers: Handlers): Record<string, string | number> | null {
  const all: Record<string, string | number> = {};
  for (const [, params] of handlers) {
    for (const [name, value] of Object.entries(params)) {
      if ((all[name] ??= value) !== value) return null;
    }
  }
  return all;
}

/** One request on its way through its handlers. */
interface Way {
  readonly handlers: readonly H[];
  readonly c: Context<Env>;
  readonly failureAnswer: FailureAnswer;
}

const done = Promise.resolve();

/** Calls the handler at a place of the list, and as its `next` those behind it. Resolves once `c.res` is the answer. */
function callHandlers(way: Way, at: number): Promise<void> {
  const { handlers, c } = way;
  const handler: H = handlers[at] ?? answerNotFound;
  let behind: Promise<void> | null = null;
  const next: Next = () => {
    if (behind !== null) throw new Error("next() called multiple times");
    return behind = callHandlers(way, at + 1);
  };
  let returned: unknown;
  try {
    returned = handler(c, next);
  } catch (error) {
    return answerFailure(way, error);
  }
  if (!(returned instanceof Promise)) {
    keep(c, returned);
    return done;
  }
  // What the handlers behind it have returned is kept already, and their failures are answered.
  if (returned === behind) return behind;
  return returned.then((answer) => keep(c, answer), (error) => answerFailure(way, error));
}

/** The first answer counts; `next` of the framework resolves to the context, which is none. */
function keep(c: Context<Env>, answer: unknown): void {
  if (answer instanceof Response && !c.finalized) c.res = answer;
}

/** Stands behind the last handler. */
const answerNotFound: H = (c) => c.finalized ? undefined : c.notFound();

/** Replaces an answer that stands already. Whatever is thrown that is no Error is thrown on, as in the framework. */
async function answerFailure({ c, failureAnswer }: Way, error: unknown): Promise<void> {
  if (!(error instanceof Error)) throw error;
  c.error = error;
  c.res = await failureAnswer(error, c);
}
