// What a part gives, and what may stand inside one.
import type { Child } from "hono/jsx";
import type { HtmlEscapedString } from "hono/utils/html";

/** A piece of a page, in which values are escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** What stands between the tags of a part. */
export type Children = Child | Child[];
