/** Whether the arguments ask how the command is called: `--help`, or `-h`. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.some((arg) => arg === "--help" || arg === "-h");
}
