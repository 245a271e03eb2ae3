// Fields for the values of a text's placeholders: each has a type, because SQL tells 1 from '1'.
import type { Placeholder } from "../../../../lib/services/editor/prepare_text.ts";
import { valueTypes } from "../../../../lib/sql/words/typed_value.ts";
import type { Html } from "../../parts/html.ts";
import { valueNames } from "./sql_form.ts";

/** What the fields show. */
export interface ValuesProps {
  readonly placeholders: readonly Placeholder[];
  /** Statements of the text: with several, each field says which it belongs to. */
  readonly count: number;
  /** They are put into a page in the place of those before. */
  readonly swapped?: boolean;
  /** Nothing was run yet: a field that is empty is no fault. */
  readonly fresh?: boolean;
}

/** A bar of fields; without placeholders only the place where they would be. */
export function Values({ placeholders, count, swapped = false, fresh = false }: ValuesProps): Html {
  return (
    <div
      id="values"
      class="values"
      hx-swap-oob={swapped ? "true" : undefined}
    >
      {placeholders.map((one) => <Value placeholder={one} several={count > 1} fresh={fresh} />)}
    </div>
  );
}

function Value(
  { placeholder: { statement, place, typed, problem }, several, fresh }: {
    placeholder: Placeholder;
    several: boolean;
    fresh: boolean;
  },
): Html {
  const names = valueNames(statement, place);
  const about = `value ${place + 1}${several ? ` of statement ${statement + 1}` : ""}`;
  const wrong = problem !== null && typed !== null && !(fresh && typed.text === "");
  return (
    <span class={wrong ? "param wrong" : "param"}>
      <label for={names.value}>{several ? `${statement + 1}: ?${place + 1}` : `?${place + 1}`}</label>
      <input
        id={names.value}
        name={names.value}
        value={typed?.text ?? ""}
        placeholder="empty text"
        aria-label={about}
        aria-invalid={wrong ? "true" : undefined}
        aria-describedby={wrong ? `${names.value}-wrong` : undefined}
        autocomplete="off"
        spellcheck={false}
      />
      <select name={names.type} aria-label={`Type of ${about}`}>
        {valueTypes.map((type) => (
          <option value={type} selected={(typed?.type ?? "text") === type}>
            {type === "null" ? "NULL" : type === "blob" ? "blob (hex)" : type}
          </option>
        ))}
      </select>
      {wrong ? <small id={`${names.value}-wrong`} class="wrong">{problem}</small> : null}
    </span>
  );
}
