// The rail: where one is, where one can go, what it has cost, and who one is. On a small screen it opens from a button.
import type { Visit } from "../../http/visit.ts";
import { Brand } from "./brand.tsx";
import { Count } from "./count.tsx";
import { usd } from "./figures.ts";
import { Form } from "./form.tsx";
import type { Html } from "./html.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Avatar } from "./person.tsx";
import { visibleText } from "./visible_text.ts";

/** Name, last part of the address, and icon of each page of a namespace. */
const entries = [
  ["Databases", "", "database"],
  ["Approvals", "/approvals", "approvals"],
  ["Usage", "/usage", "usage"],
  ["Tokens", "/tokens", "token"],
  ["Members", "/members", "members"],
  ["Audit", "/audit", "audit"],
  ["Settings", "/settings", "settings"],
] as const satisfies readonly (readonly [string, string, IconName])[];

/** The name of a page of a namespace. */
export type RailEntry = (typeof entries)[number][0];

/** What is marked. */
export interface RailProps {
  readonly visit: Visit;
  /** The namespace's slug; absent on pages that belong to none. */
  readonly namespace?: string | undefined;
  readonly active?: RailEntry | undefined;
}

/** The rail of somebody who is signed in. */
export async function Rail({ visit, namespace, active }: RailProps): Promise<Html> {
  const isOperator = visit.person?.caller.kind === "operator";
  const facts = namespace === undefined ? null : await visit.railOf(namespace);
  return (
    <aside class="rail" id="rail" popover="auto" aria-label="Menu">
      <Brand />
      {namespace === undefined
        ? null
        : (
          <a class="picker" href={isOperator ? "/console/-/namespaces" : `/console/${namespace}`}>
            <span>
              {namespace}
              <small>namespace</small>
            </span>
            {isOperator ? <Icon name="chevron" /> : null}
          </a>
        )}
      {namespace === undefined ? null : (
        <nav aria-label="Namespace">
          {entries.map(([name, path, icon]) => (
            <a href={`/console/${namespace}${path}`} aria-current={name === active ? "page" : undefined}>
              <Icon name={icon} />
              {name}
              {name === "Approvals" ? <Count value={facts?.waiting ?? 0} meaning="waiting" /> : null}
            </a>
          ))}
        </nav>
      )}
      {namespace === undefined && isOperator
        ? (
          <nav aria-label="Service">
            <a href="/console/-/namespaces">
              <Icon name="database" />
              Namespaces
            </a>
          </nav>
        )
        : null}
      <div class="rail-foot">
        <nav aria-label="Help">
          <a href="/docs">
            <Icon name="book" />
            Documentation
          </a>
        </nav>
        {facts === null ? null : <Balance of={facts.creditedUsd} left={facts.balanceUsd} />}
        <Who visit={visit} />
      </div>
    </aside>
  );
}

function Balance({ left, of }: { left: number; of: number }): Html {
  const most = Math.max(of, left, 0.01);
  return (
    <div class="balance">
      <div>
        <span>Balance</span>
        <strong>{of > 0 ? `${usd(left)} of ${usd(of)}` : usd(left)}</strong>
      </div>
      <meter min={0} max={most} value={Math.max(0, left)} aria-label="Balance" />
    </div>
  );
}

function Who({ visit }: { visit: Visit }): Html | null {
  const { person } = visit;
  if (person === null) return null;
  return (
    <div class="who">
      <a class="account" href="/console/-/account">
        <Avatar name={person.name} />
        <span>
          {visibleText(person.name)}
          <small>{person.detail}</small>
        </span>
      </a>
      <Form visit={visit} action="/console/-/theme" hidden={{ back: visit.here }}>
        <ThemeButton theme={visit.theme} />
      </Form>
      <Form visit={visit} action="/console/-/sign-out">
        <button class="icon-button" type="submit" aria-label="Sign out" title="Sign out">
          <Icon name="signOut" />
        </button>
      </Form>
    </div>
  );
}

/** Light, dark, and back to what the system says. */
function ThemeButton({ theme }: { theme: Visit["theme"] }): Html {
  const next = theme === null ? "dark" : theme === "dark" ? "light" : "system";
  const label = next === "system" ? "Theme of the system" : next === "dark" ? "Dark theme" : "Light theme";
  return (
    <button class="icon-button" type="submit" name="theme" value={next} aria-label={label} title={label}>
      <Icon name={theme === "dark" ? "sun" : "moon"} />
    </button>
  );
}
