// Icons: single pictures of Primer's set, one of the two places where HTML is written as it is.
import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import alert from "@primer/octicons/build/svg/alert-16.svg" with { type: "text" };
import agent from "@primer/octicons/build/svg/hubot-16.svg" with { type: "text" };
import approvals from "@primer/octicons/build/svg/inbox-16.svg" with { type: "text" };
import audit from "@primer/octicons/build/svg/log-16.svg" with { type: "text" };
import bell from "@primer/octicons/build/svg/bell-16.svg" with { type: "text" };
import book from "@primer/octicons/build/svg/book-16.svg" with { type: "text" };
import branch from "@primer/octicons/build/svg/git-branch-16.svg" with { type: "text" };
import check from "@primer/octicons/build/svg/check-16.svg" with { type: "text" };
import chevron from "@primer/octicons/build/svg/chevron-down-16.svg" with { type: "text" };
import chevronRight from "@primer/octicons/build/svg/chevron-right-16.svg" with { type: "text" };
import clock from "@primer/octicons/build/svg/clock-16.svg" with { type: "text" };
import copy from "@primer/octicons/build/svg/copy-16.svg" with { type: "text" };
import cross from "@primer/octicons/build/svg/x-16.svg" with { type: "text" };
import database from "@primer/octicons/build/svg/database-16.svg" with { type: "text" };
import download from "@primer/octicons/build/svg/download-16.svg" with { type: "text" };
import history from "@primer/octicons/build/svg/history-16.svg" with { type: "text" };
import info from "@primer/octicons/build/svg/info-16.svg" with { type: "text" };
import key from "@primer/octicons/build/svg/key-16.svg" with { type: "text" };
import link from "@primer/octicons/build/svg/link-16.svg" with { type: "text" };
import members from "@primer/octicons/build/svg/people-16.svg" with { type: "text" };
import menu from "@primer/octicons/build/svg/three-bars-16.svg" with { type: "text" };
import moon from "@primer/octicons/build/svg/moon-16.svg" with { type: "text" };
import passkey from "@primer/octicons/build/svg/passkey-fill-16.svg" with { type: "text" };
import play from "@primer/octicons/build/svg/play-16.svg" with { type: "text" };
import plus from "@primer/octicons/build/svg/plus-16.svg" with { type: "text" };
import search from "@primer/octicons/build/svg/search-16.svg" with { type: "text" };
import settings from "@primer/octicons/build/svg/gear-16.svg" with { type: "text" };
import shield from "@primer/octicons/build/svg/shield-check-16.svg" with { type: "text" };
import signOut from "@primer/octicons/build/svg/sign-out-16.svg" with { type: "text" };
import stopwatch from "@primer/octicons/build/svg/stopwatch-16.svg" with { type: "text" };
import sun from "@primer/octicons/build/svg/sun-16.svg" with { type: "text" };
import table from "@primer/octicons/build/svg/table-16.svg" with { type: "text" };
import token from "@primer/octicons/build/svg/key-asterisk-16.svg" with { type: "text" };
import trash from "@primer/octicons/build/svg/trash-16.svg" with { type: "text" };
import undo from "@primer/octicons/build/svg/undo-16.svg" with { type: "text" };
import usage from "@primer/octicons/build/svg/graph-16.svg" with { type: "text" };
import zap from "@primer/octicons/build/svg/zap-16.svg" with { type: "text" };

const pictures = {
  agent,
  alert,
  approvals,
  audit,
  bell,
  book,
  branch,
  check,
  chevron,
  chevronRight,
  clock,
  copy,
  cross,
  database,
  download,
  history,
  info,
  key,
  link,
  members,
  menu,
  moon,
  passkey,
  play,
  plus,
  search,
  settings,
  shield,
  signOut,
  stopwatch,
  sun,
  table,
  token,
  trash,
  undo,
  usage,
  zap,
};

/** What an icon shows. */
export type IconName = keyof typeof pictures;

/** A picture in the colour of the text beside it, which says what it means: readers of the page skip it. */
export function Icon({ name, size = 16 }: { name: IconName; size?: 12 | 14 | 16 | 24 }): HtmlEscapedString {
  return raw(
    pictures[name].replace(
      / width="\d+" height="\d+"/,
      ` width="${size}" height="${size}" aria-hidden="true"`,
    ),
  );
}
