// What a command that must succeed writes.

/** Throws where it fails, with the end of what it says about that. */
export async function outputOf(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { args: [...args], cwd, env: { ...env } };
  const { success, stdout, stderr } = await new Deno.Command(command, options).output();
  if (!success) throw new Error(`${command} ${args[0]}: ${new TextDecoder().decode(stderr).slice(-500)}`);
  return new TextDecoder().decode(stdout);
}
