// A line to copy: a command, a secret that is shown once.
import type { Html } from "./html.ts";
import { Icon } from "./icon.tsx";

/** `label` names what is copied. Without script the text is selected and copied as any other. */
export function CopyLine({ text, label }: { text: string; label: string }): Html {
  return (
    <div class="copy-line">
      <code tabindex={0} role="region" aria-label={label}>{text}</code>
      <button class="button small needs-script" type="button" data-copy={text} aria-label={`Copy ${label}`}>
        <Icon name="copy" size={14} />
        <span>Copy</span>
      </button>
    </div>
  );
}
