// How much this process may keep open for look-ups by key.
import { CONNECTION_BYTES, CONNECTION_DESCRIPTORS } from "./lookup_file.ts";

/** Bytes of all connections where there is enough of everything. */
const ROOM_BYTES = 272 * 1024 * 1024;
/** The part that they may have of the memory of all children, and of the file descriptors of this process. */
const MEMORY_PART = 1 / 12;
const DESCRIPTORS_PART = 1 / 3;

/** Bytes of the connections; the other descriptors are for clients and everything else. */
export function lookupBytesOf(memoryBytes: number, descriptors: number): number {
  const connections = descriptors * DESCRIPTORS_PART / CONNECTION_DESCRIPTORS;
  return Math.min(ROOM_BYTES, memoryBytes * MEMORY_PART, connections * CONNECTION_BYTES);
}

/** File descriptors that this process may have: as many as a process that it starts. */
export async function findDescriptors(): Promise<number> {
  if (Deno.build.os === "windows") return Infinity;
  const { stdout } = await new Deno.Command("sh", { args: ["-c", "ulimit -n"], stderr: "null" }).output();
  // The shell says "unlimited" where nothing limits them.
  return Number(new TextDecoder().decode(stdout)) || Infinity;
}
