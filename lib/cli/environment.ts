// What the command line takes from its environment: the token, which must not stand among the arguments of a process, and
// the address, which need not.

/** The address of the database and the token; undefined where they are not set. */
export interface CommandEnvironment {
  readonly db: string | undefined;
  readonly token: string | undefined;
}

/** Reads `CUBBY_DB` and `CUBBY_TOKEN`. */
export function commandEnvironment(): CommandEnvironment {
  return { db: Deno.env.get("CUBBY_DB"), token: Deno.env.get("CUBBY_TOKEN") };
}
