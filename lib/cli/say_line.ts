// What a command says.
const encoder = new TextEncoder();

/** Writes a line to standard output. */
export function sayLine(line: string): void {
  Deno.stdout.writeSync(encoder.encode(`${line}\n`));
}
