// A restore that ends itself at a step, as if it were killed there: data folder, step, backup.
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { restoreBackup } from "../../lib/services/backup/restore_backup.ts";

const [dataDir = "", killAt = "", path = ""] = Deno.args;
await restoreBackup(path, {
  dataDir,
  replace: true,
  revokeTokens: false,
  rehearsal: false,
  openKv: (kv) => Deno.openKv(kv),
  environment: configFromEnvironment().engineEnvironment,
  clock: systemClock,
  step: (name) => {
    if (name === killAt) Deno.kill(Deno.pid, "SIGKILL");
  },
});
