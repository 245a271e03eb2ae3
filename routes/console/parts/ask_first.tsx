// A second click before something goes for good: the first one says what goes. Without script it does the same.
import type { Visit } from "../../http/visit.ts";
import { Button } from "./button.tsx";
import { Form } from "./form.tsx";
import { Icon, type IconName } from "./icon.tsx";
import type { Children, Html } from "./html.ts";

/** A question before an act. */
export interface AskFirstProps {
  readonly visit: Visit;
  /** Where the form goes. */
  readonly action: string;
  /** What the first button says. */
  readonly ask: string;
  /** The same for who hears it, with the name of what goes. */
  readonly name: string;
  /** What the second one says. */
  readonly act: string;
  readonly icon?: IconName;
  /** What happens, in sentences. */
  readonly children?: Children;
}

/** Two buttons, of which the second one is there once the first was pressed. */
export function AskFirst({ visit, action, ask, name, act, icon = "trash", children }: AskFirstProps): Html {
  return (
    <details class="menu">
      <summary class="button deny small" aria-label={name}>
        <Icon name={icon} size={14} />
        {ask}
      </summary>
      <div class="menu-body">
        <p class="note">{children}</p>
        <Form visit={visit} action={action}>
          <Button small kind="danger" icon={icon}>{act}</Button>
        </Form>
      </div>
    </details>
  );
}
