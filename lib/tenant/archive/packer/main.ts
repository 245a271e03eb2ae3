// A jailed process that reads files and logs of databases and fills the spool of the archive, a job after the other. It may
// touch the folders of databases and of the spool, and nothing else.
import { readLines } from "../../jail/read_lines.ts";
import { cutDatabase } from "../cut_database.ts";
import type { CutJob } from "../cut_job.ts";

for await (const line of readLines(Deno.stdin.readable)) {
  const answer = new TextEncoder().encode(`${JSON.stringify(await cutDatabase(parseJob(line)))}\n`);
  for (let at = 0; at < answer.length;) at += Deno.stdout.writeSync(answer.subarray(at));
}

/** Guarantee: the service wrote the job. */
function parseJob(json: string): CutJob {
  return JSON.parse(json);
}
