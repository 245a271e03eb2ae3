// What the service keeps open for look-ups by key stays within its bounds, which small machines have smaller.
import { assert, assertEquals } from "@std/assert";
import { CONNECTION_BYTES, CONNECTION_DESCRIPTORS } from "../../lib/tenant/local/lookups/lookup_file.ts";
import { findDescriptors, lookupBytesOf } from "../../lib/tenant/local/lookups/lookup_room.ts";

const GB = 1024 ** 3;

Deno.test("a connection for look-ups, with its cache full, takes no more memory than it counts", async () => {
  // Nobody else tells what is whose.
  if (Deno.build.os !== "linux") return;
  const dense = ["triggers", "views", "generated", "defaults", "partial", "expressions", "checks", "columns"];
  for (
    const [besides, mode, count] of [
      ...[["0", "wal", 400], ["60", "wal", 400], ["0", "delete", 400]] as const,
      ...dense.map((kind) => [kind, "wal", 60] as const),
    ]
  ) {
    const folder = await Deno.makeTempDir({ prefix: "cubby_lookups_" });
    try {
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "-A", new URL("./lookup_memory.ts", import.meta.url).pathname],
          ...[folder, String(count), besides, mode],
        ],
        stderr: "inherit",
      }).output();
      const { bytes, counted } = JSON.parse(new TextDecoder().decode(stdout));
      assert(
        bytes > 50_000 && bytes <= counted,
        `${besides} beside, ${mode}: ${bytes} bytes, counted ${counted}`,
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
});

Deno.test("small machines, and processes with few file descriptors, keep fewer databases open for look-ups", () => {
  const databases = (memoryBytes: number, descriptors: number) =>
    Math.floor(lookupBytesOf(memoryBytes, descriptors) / CONNECTION_BYTES);
  assert(databases(16 * GB, Infinity) > 1500);
  assertEquals(databases(16 * GB, Infinity), databases(8 * GB, 1_000_000));
  assert(lookupBytesOf(GB, Infinity) <= GB / 12);
  for (const descriptors of [256, 1024, 4096]) {
    const open = databases(16 * GB, descriptors) * CONNECTION_DESCRIPTORS;
    assert(open > descriptors / 4 && open <= descriptors / 3, `${open} of ${descriptors}`);
  }
});

Deno.test("the file descriptors that this process may have are found", async () => {
  assert(await findDescriptors() >= 256);
});
