// A box to tick, or one of several to choose.
import type { Html } from "./html.ts";

/** A box. */
export interface CheckProps {
  readonly label: string;
  readonly name: string;
  readonly value?: string;
  readonly hint?: string;
  readonly checked?: boolean;
  /** One of several with the same name. */
  readonly radio?: boolean;
}

/** A label around its box. */
export function Check(
  { label, name, value = "yes", hint, checked = false, radio = false }: CheckProps,
): Html {
  return (
    <label class="check">
      <input type={radio ? "radio" : "checkbox"} name={name} value={value} checked={checked} />
      <span>
        {label}
        {hint === undefined ? null : <small>{hint}</small>}
      </span>
    </label>
  );
}
