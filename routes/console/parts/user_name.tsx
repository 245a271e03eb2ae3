// Tells password managers whose password a form asks for, where nobody has to type it.
import type { Html } from "./html.ts";

/** A field that people do not see. */
export function UserName({ of }: { of: string }): Html {
  return (
    <input
      type="text"
      name="username"
      value={of}
      autocomplete="username"
      readonly
      hidden
      aria-hidden="true"
    />
  );
}
