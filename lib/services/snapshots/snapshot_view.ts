// A snapshot as the API shows it.
import { isoTime } from "../../core/clock.ts";
import type { SnapshotInfo } from "../../tenant/snapshots.ts";

export interface SnapshotView {
  readonly label: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
  readonly automatic: boolean;
}

export function snapshotView({ label, createdAt, sizeBytes, automatic }: SnapshotInfo): SnapshotView {
  return { label, createdAt: isoTime(createdAt), sizeBytes, automatic };
}
