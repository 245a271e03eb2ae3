// How much of the disk reads may take for temporary files.
import { assert, assertEquals } from "@std/assert";
import { spillsTooMuch } from "../../lib/tenant/local/pool/child_bounds.ts";
import { mostTempBytes } from "../../lib/tenant/local/pool/disk_room.ts";

const MB = 1024 * 1024;

Deno.test("a read may take what is set, a quarter of what is free, and nothing where nobody knows what is free", async () => {
  const folder = await Deno.makeTempDir();
  assertEquals(mostTempBytes(folder, 5), 5);
  const quarter = mostTempBytes(folder, Infinity);
  assert(quarter > 0 && Number.isFinite(quarter), String(quarter));
  assert(mostTempBytes(folder, quarter * 8) < quarter * 8);
  await Deno.remove(folder);
  assertEquals(mostTempBytes(folder, Infinity), 0);
});

Deno.test("what a child had written before a read, or writes without a report, is not the read's", () => {
  const read: { writtenBefore?: number } = {};
  const looks: readonly (readonly [writtenMb: number | null, mostMb: number, isPast: boolean])[] = [
    [null, 0, false],
    [NaN, 0, false],
    [900, 0, false],
    [901, 0, false],
    [902, 0, true],
    [902, 2, false],
    [null, 0, false],
    [910, 9, true],
  ];
  for (const [writtenMb, mostMb, isPast] of looks) {
    const report = writtenMb === null ? null : { writtenBytes: writtenMb * MB };
    assertEquals(spillsTooMuch(read, report, () => mostMb * MB), isPast, `${writtenMb} of ${mostMb}`);
  }
});
