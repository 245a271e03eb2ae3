// The permissions that people run the service with: those of `deno task start`. A process of the service's code that a
// test starts has the same, so that a guard which needs more shows.

/** `--allow-net` and so on, from `deno.json`. */
export function startPermissions(): string[] {
  return startFlags().filter((word) => word.startsWith("--allow-"));
}

/** All of its flags, those for the engine included. */
export function startFlags(): string[] {
  const { tasks }: { tasks: { start: string } } = JSON.parse(
    Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)),
  );
  return tasks.start.split(" ").filter((word) => word.startsWith("--"));
}
