// The product's mark and name.
import type { Html } from "./html.ts";

/** Leads to the first page of whoever reads. */
export function Brand(): Html {
  return (
    <a class="brand" href="/console">
      <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
        <rect x="1" y="1" width="9" height="9" rx="2.5" />
        <rect x="12" y="1" width="9" height="9" rx="2.5" opacity=".32" />
        <rect x="1" y="12" width="9" height="9" rx="2.5" opacity=".32" />
        <rect x="12" y="12" width="9" height="9" rx="2.5" opacity=".32" />
      </svg>
      Cubby
    </a>
  );
}
