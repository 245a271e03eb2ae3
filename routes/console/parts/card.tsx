// A box with a title about one thing.
import type { Child } from "hono/jsx";
import type { Children, Html } from "./html.ts";

/** What a card shows. */
export interface CardProps {
  readonly title: string;
  /** Of the title, unique on the page; the card is named by it. */
  readonly id: string;
  /** Beside the title, in small letters. */
  readonly about?: Child;
  /** At the end of the head: a link, a pill, buttons. */
  readonly end?: Child;
  readonly foot?: Child;
  /** The content fills the card to its edges, as tables do. */
  readonly full?: boolean;
  /** Further classes. */
  readonly kind?: string;
  readonly children?: Children;
}

/** A section that is named by its title. */
export function Card({ title, id, about, end, foot, full = false, kind = "", children }: CardProps): Html {
  return (
    <section class={`card ${kind}`.trim()} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {about === undefined ? null : <small>{about}</small>}
        {end ?? null}
      </header>
      {full ? children : <div class="body">{children}</div>}
      {foot === undefined ? null : <footer>{foot}</footer>}
    </section>
  );
}
