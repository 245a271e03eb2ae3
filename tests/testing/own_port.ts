// Ports for servers that have to be told theirs: nobody else gets one before the server listens there, or between two
// starts of it.

/** A file for each, which all test processes see. */
const TAKEN = `${Deno.env.get("TMPDIR") ?? "/tmp"}/cubby_ports`;

/** Below the range out of which systems give ports to whoever asks for any. It is ours until it is given back. */
export async function takePort(): Promise<number> {
  await Deno.mkdir(TAKEN, { recursive: true });
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    try {
      (await Deno.open(`${TAKEN}/${port}`, { createNew: true, write: true })).close();
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      const isTaken = error instanceof Deno.errors.AlreadyExists || error instanceof Deno.errors.AddrInUse;
      if (!isTaken) throw error;
    }
  }
}

export async function givePort(port: number): Promise<void> {
  await Deno.remove(`${TAKEN}/${port}`);
}
