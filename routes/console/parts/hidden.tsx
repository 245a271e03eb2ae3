// Fields of a form that nobody sees.
import type { Html } from "./html.ts";

/** Name → value. */
export function Hidden({ fields }: { fields: Readonly<Record<string, string>> }): Html {
  return (
    <>{Object.entries(fields).map(([name, value]) => <input type="hidden" name={name} value={value} />)}</>
  );
}
