// Writing bytes to a file, of which one write may take only some.

/** Writes all of them where the file stands. Rejects as the file does. */
export async function writeAll(to: Pick<Deno.FsFile, "write">, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}
