// How the archive of a database stands: from when until when, how far behind, and what is wrong in plain words.
import { MINUTE_MS } from "../../../../lib/core/clock.ts";
import type { ArchiveProblem } from "../../../../lib/services/snapshots/archived_moment.ts";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Tiles } from "../../parts/tiles.tsx";
import { Time } from "../../parts/time.tsx";
import type { ArchiveProps } from "./archive_props.ts";

/** What waits for the next sending is not late. */
const SOON_MS = 30_000;

/** The card's place is the head of the page. */
export function ArchiveState({ base, archive, days, role }: ArchiveProps): Html {
  const { archivedFrom, archivedUntil, lagMs, problem } = archive;
  const isLate = lagMs !== null && lagMs > SOON_MS;
  return (
    <>
      {problem === null ? null : <Problem problem={problem} base={base} />}
      <Tiles
        label="The archive of this database"
        tiles={[
          {
            name: "Archive",
            value: problem === null ? "On" : shortly[problem],
            about: `moments stay ${days.archive} days`,
            warn: problem !== null,
          },
          {
            name: "Oldest moment",
            value: archivedFrom === null
              ? problem === null ? "None yet" : "Not known now"
              : <Time at={archivedFrom} />,
            about: archivedFrom !== null
              ? "anything before is gone"
              : problem === null
              ? "the first follows within seconds"
              : "it cannot be read",
          },
          {
            name: "Newest moment",
            value: problem !== null ? "Not now" : archivedFrom === null ? "None yet" : "Now",
            about: role === "admin" ? "what is new is archived when you ask" : "an admin can go back to it",
          },
          {
            name: "Behind",
            value: lagMs === null ? "Unknown" : isLate ? distance(lagMs) : "Up to date",
            about: archivedUntil === null ? "nothing is archived yet" : (
              <>
                archived until <Time at={archivedUntil} />
              </>
            ),
            warn: isLate,
          },
        ]}
      />
    </>
  );
}

const shortly: Readonly<Record<ArchiveProblem, string>> = {
  archive_away: "Away",
  archive_taken: "Taken over",
  archive_damaged: "Damaged",
};

function Problem({ problem, base }: { problem: ArchiveProblem; base: string }): Html {
  const snapshots = <a href={`${base}/snapshots`}>Snapshots</a>;
  if (problem === "archive_taken") {
    return (
      <Notice tone="bad">
        <b>Another installation archives in this one's place.</b>{" "}
        Nothing more of this service is archived, and no moment can be brought back here. If this service is
        the one to keep, its operator starts it with{" "}
        <code>ARCHIVE_TAKE_OVER=1</code>; if it is a copy, it is given an archive of its own. {snapshots}{" "}
        are not affected.
      </Notice>
    );
  }
  if (problem === "archive_damaged") {
    return (
      <Notice tone="warn">
        <b>An object at the beginning of this database's archive is lost or altered.</b>{" "}
        How far back it goes is not known. A moment that cannot be put together exactly is refused, and
        nothing is changed; try a later one, or {snapshots}.
      </Notice>
    );
  }
  return (
    <Notice tone="warn">
      <b>The archive does not answer.</b>{" "}
      What is written meanwhile waits on this machine and goes there when it is back; until then no moment can
      be brought back. {snapshots} can.
    </Notice>
  );
}

function distance(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 1) return `${Math.round(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
