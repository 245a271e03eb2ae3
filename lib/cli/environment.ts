// What the commands take from their environment: tokens, which must not stand among the arguments of a process, and the
// address, which need not.

/** What is not set is undefined. */
export interface CommandEnvironment {
  readonly db: string | undefined;
  readonly token: string | undefined;
  /** The tokens of a database that is moved, and of where it goes. */
  readonly fromToken: string | undefined;
  readonly toToken: string | undefined;
  /** The folder in which the command was called: a task runs in that of its `deno.json`. */
  readonly calledIn: string | undefined;
  /** A proxy is named for what goes without TLS, which only the runtime's own `fetch` takes. */
  readonly hasProxy: boolean;
}

const PROXIES = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/** Reads the variables that the command may see; `INIT_CWD` is set by `deno task`. */
export function commandEnvironment(): CommandEnvironment {
  return {
    db: valueOf("CUBBY_DB"),
    token: valueOf("CUBBY_TOKEN"),
    fromToken: valueOf("CUBBY_FROM_TOKEN"),
    toToken: valueOf("CUBBY_TO_TOKEN"),
    calledIn: valueOf("INIT_CWD"),
    hasProxy: PROXIES.some(valueOf),
  };
}

/** A task lets its command read only the variables that it needs. */
function valueOf(name: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: name });
  return state === "granted" ? Deno.env.get(name) : undefined;
}
