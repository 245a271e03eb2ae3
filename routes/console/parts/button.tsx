// What sends a form, and links that look the same because they lead to an act.
import type { Children, Html } from "./html.ts";
import { Icon, type IconName } from "./icon.tsx";

/** Ink is what the page is for; green lets a write pass; red removes. */
export type ButtonKind = "plain" | "primary" | "approve" | "deny" | "danger";

/** How a button looks, and where it leads. */
export interface ButtonProps {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly small?: boolean;
  readonly wide?: boolean;
  /** Where given it is a link. */
  readonly href?: string;
  /** Where given the form is sent with them. */
  readonly name?: string;
  readonly value?: string;
  readonly children?: Children;
}

/** A button that sends its form, or a link. */
export function Button(props: ButtonProps): Html {
  const { kind = "plain", icon, small = false, wide = false, href, children } = props;
  const classes = ["button", kind === "plain" ? "" : kind, small ? "small" : "", wide ? "wide" : ""];
  const look = classes.filter((one) => one !== "").join(" ");
  const inside = (
    <>
      {icon === undefined ? null : <Icon name={icon} size={small ? 14 : 16} />}
      {children}
    </>
  );
  if (href !== undefined) return <a class={look} href={href}>{inside}</a>;
  return (
    <button class={look} type="submit" name={props.name} value={props.value}>
      {inside}
    </button>
  );
}
