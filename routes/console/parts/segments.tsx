// A choice between a few views of the same page, each with its own address.
import type { Html } from "./html.ts";

/** One view. */
export interface Segment {
  readonly name: string;
  readonly href: string;
  readonly current: boolean;
}

/** `label` says what is chosen. */
export function Segments({ label, segments }: { label: string; segments: readonly Segment[] }): Html {
  return (
    <div class="segments" role="group" aria-label={label}>
      {segments.map(({ name, href, current }) => (
        <a href={href} aria-current={current ? "true" : undefined}>{name}</a>
      ))}
    </div>
  );
}
