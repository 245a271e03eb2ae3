// How the service is told to stop.

/** Ends the process behind `stop` at the first signal. A second signal does not wait for the first one's work. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) Deno.exit(1);
    stopping = true;
    stop().then(() => Deno.exit(0), () => Deno.exit(1));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, onSignal);
}
