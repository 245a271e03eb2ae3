// Runs the Deno that runs it once more, with its temporary files in memory (`tests/in_memory.sh`): a shell finds no Deno
// by its name where it was started by its path. Arguments are those of the second one; its exit code is ours.

const script = new URL("in_memory.sh", import.meta.url).pathname;
const child = new Deno.Command("sh", { args: [script, Deno.execPath(), ...Deno.args] }).spawn();

// A terminal sends its signal to both; whoever sends one to this process alone means the tests.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  Deno.addSignalListener(signal, () => {
    try {
      child.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended by itself
    }
  });
}
Deno.exit((await child.status).code);
