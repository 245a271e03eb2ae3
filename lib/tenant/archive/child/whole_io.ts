// Reads and writes of files that go on until all is done.

/** Fills `into`, or as much of it as there is. */
export function readWhole(file: Deno.FsFile, into: Uint8Array): void {
  for (let filled = 0; filled < into.length;) {
    const read = file.readSync(into.subarray(filled));
    if (read === null) return;
    filled += read;
  }
}

/** Writes all of it. */
export function writeWhole(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
}
