// A cron of the runtime goes by the machine's clock, and stands still where that is put back: what has to happen each minute
// happens all the same.
import { assertEquals } from "@std/assert";
import { listBackups } from "../../lib/services/backup/archived_backups.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import { until } from "../tenant/archive_world.ts";
import { startService } from "../testing/start_service.ts";

/** Before the file of the program, which is behind `<deno> run`. */
const PRELOADING = 'deno=$1; shift 2; exec "$deno" run --preload "$0" "$@"';

Deno.test("the control plane goes into the archive each minute, also after the machine's clock was put back", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_crons_" });
  const archive = `${folder}/archive`;
  await Deno.mkdir(archive);
  try {
    await using _service = await startService({
      folder: `${folder}/data`,
      settings: { DEMO: "0", TENANTS_URL: "file:", ARCHIVE_URL: `file:${archive}` },
      launcher: ["sh", "-c", PRELOADING, new URL("still_crons.ts", import.meta.url).pathname],
    });
    const store = new FolderObjects(archive);
    const whole = async () => (await listBackups(store)).filter(({ isWhole }) => isWhole).length;
    let looks = 1000;
    await until(async () => --looks === 0 || await whole() > 0);
    assertEquals(await whole(), 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
