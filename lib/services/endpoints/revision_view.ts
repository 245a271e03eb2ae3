// A revision of an endpoint as the management API shows it.
import { isoTime } from "../../core/clock.ts";
import type { EndpointRevision } from "../../store/records.ts";

export interface RevisionView extends Omit<EndpointRevision, "at"> {
  /** ISO 8601. */
  readonly at: string;
}

export function revisionView({ at, ...revision }: EndpointRevision): RevisionView {
  return { ...revision, at: isoTime(at) };
}
