// The modules of the SQL editor as their packages publish them: each is an asset of its own, and the page's import map
// says where the others find it. They are loaded when somebody first opens the editor.

/** Reads the text of one module. */
type LoadText = () => Promise<{ readonly default: string }>;

/** Name by which modules import it → its text. Every name that one of them imports is here. */
export const editorModules: Readonly<Record<string, LoadText>> = {
  "@codemirror/autocomplete": () => import("@codemirror/autocomplete", { with: { type: "text" } }),
  "@codemirror/commands": () => import("@codemirror/commands", { with: { type: "text" } }),
  "@codemirror/lang-sql": () => import("@codemirror/lang-sql", { with: { type: "text" } }),
  "@codemirror/language": () => import("@codemirror/language", { with: { type: "text" } }),
  "@codemirror/search": () => import("@codemirror/search", { with: { type: "text" } }),
  "@codemirror/state": () => import("@codemirror/state", { with: { type: "text" } }),
  "@codemirror/streamparser": () => import("@codemirror/streamparser", { with: { type: "text" } }),
  "@codemirror/view": () => import("@codemirror/view", { with: { type: "text" } }),
  "@lezer/common": () => import("@lezer/common", { with: { type: "text" } }),
  "@lezer/highlight": () => import("@lezer/highlight", { with: { type: "text" } }),
  "@lezer/lr": () => import("@lezer/lr", { with: { type: "text" } }),
  "@marijn/find-cluster-break": () => import("@marijn/find-cluster-break", { with: { type: "text" } }),
  "crelt": () => import("crelt", { with: { type: "text" } }),
  "style-mod": () => import("style-mod", { with: { type: "text" } }),
  "w3c-keyname": () => import("w3c-keyname", { with: { type: "text" } }),
};

/** The file name of a module among the assets. */
export function moduleFile(name: string): string {
  return `${name.replace("@", "").replaceAll("/", "-")}.js`;
}
