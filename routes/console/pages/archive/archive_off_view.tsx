// What stands where nothing is archived: how that is changed, by whom, and what there is instead.
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import type { Html } from "../../parts/html.ts";
import type { ArchiveProps } from "./archive_props.ts";

/** The whole page. */
export function ArchiveOff({ base, stores, days }: ArchiveProps): Html {
  return (
    <EmptyCard icon="history" title="This service archives no moments">
      <p>
        What there is instead:{" "}
        <a href={`${base}/snapshots`}>snapshots</a>, taken before every statement that may lose rows or
        definitions, and kept for {days.snapshots}{" "}
        days on the machine of the database. They undo a mistake; they do not survive the loss of a disk.
      </p>
      {stores === "file"
        ? (
          <>
            <p>
              With an archive, a folder on another disk or a bucket, this database can be brought back as it
              was at any moment. The operator of the service turns it on:
            </p>
            <CopyLine label="the command" text="ARCHIVE_URL=file:/mnt/backup/cubby deno task start" />
          </>
        )
        : (
          <p>
            The databases of this service live in{" "}
            {stores === "sqld" ? "sqld" : "Turso"}, which has an archive of its own; ask its operator for a
            moment.
          </p>
        )}
      <p>
        <a href="/docs/archive">About the archive</a>
      </p>
    </EmptyCard>
  );
}
