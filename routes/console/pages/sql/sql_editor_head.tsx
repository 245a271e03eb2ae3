// What the head of the SQL page needs for its editor: where its modules are, and that they are fetched at once.
import { html, raw } from "hono/html";
import type { Visit } from "../../../http/visit.ts";
import type { Html } from "../../parts/html.ts";

/** The import map and its modules. Nothing where this runtime makes no scripts. */
export async function EditorHead(
  { visit: { assets, nonce } }: { visit: Visit },
): Promise<Awaited<Html> | null> {
  if (!assets.scripted) return null;
  const map = await assets.editorAddresses();
  return (
    <>
      <ImportMap map={map} nonce={nonce} />
      {Object.values(map).map((href) => <link rel="modulepreload" href={href} nonce={nonce} />)}
    </>
  );
}

/** The other one of the two places where HTML is written as it is: names and addresses of this service only. */
function ImportMap({ map, nonce }: { map: Readonly<Record<string, string>>; nonce: string }): Html {
  const text = JSON.stringify({ imports: map }).replaceAll("<", "\\u003c");
  return html`<script type="importmap" nonce="${nonce}">${raw(text)}</script>`;
}
