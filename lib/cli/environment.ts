// What the command line takes from its environment: the token, which must not stand among the arguments of a process, and
// the address, which need not.

/** What is not set is undefined. */
export interface CommandEnvironment {
  readonly db: string | undefined;
  readonly token: string | undefined;
  /** The folder in which the command was called: a task runs in that of its `deno.json`. */
  readonly calledIn: string | undefined;
}

/** Reads `CUBBY_DB` and `CUBBY_TOKEN`, and `INIT_CWD`, which `deno task` sets. */
export function commandEnvironment(): CommandEnvironment {
  const [db, token, calledIn] = ["CUBBY_DB", "CUBBY_TOKEN", "INIT_CWD"].map((name) => Deno.env.get(name));
  return { db, token, calledIn };
}
