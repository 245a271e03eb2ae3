// A button that asks the browser for a passkey and sends its form with the answer. It is there only with a script.
import { Icon } from "./icon.tsx";
import type { Html } from "./html.ts";

/** What is asked of the browser. */
export interface PasskeyButtonProps {
  /** `get` one that there is, or `create` one. */
  readonly kind: "get" | "create";
  /** Where the script fetches what the browser is asked; it sends the fields of the form there. */
  readonly begin: string;
  /** Names of fields that have to be filled in before, with spaces between. */
  readonly needs?: string;
  readonly primary?: boolean;
  readonly text: string;
}

/** Its form gets the field `answer`. */
export function PasskeyButton({ kind, begin, needs = "", primary = false, text }: PasskeyButtonProps): Html {
  return (
    <div class="needs-script passkey">
      <input type="hidden" name="answer" value="" />
      <button
        class={primary ? "button primary wide" : "button wide"}
        type="button"
        data-passkey={kind}
        data-begin={begin}
        data-needs={needs}
      >
        <Icon name="passkey" />
        {text}
      </button>
      <p class="wrong" role="alert" data-passkey-problem></p>
    </div>
  );
}
