// The SDK's client before the current protocol, as most clients still have it. Prints what it saw as one line of JSON.
// Its packages are named at run time: no check of this repository is to bring them into its lock file.
const sdk = "npm:@modelcontextprotocol/sdk@1.32.2";
const { Client } = await import(`${sdk}/client/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);

const [url, token, statement] = Deno.args;
const client = new Client({ name: "older", version: "1" }, { capabilities: { elicitation: { url: {} } } });
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  }),
);
const { tools } = await client.listTools();
const call = async (name, args) => {
  const { isError = false, content } = await client.callTool({ name, arguments: args });
  return { isError, text: content[0].text };
};
const seen = {
  server: client.getServerVersion().name,
  instructions: client.getInstructions().length,
  tools: tools.map(({ name }) => name),
  query: await call("query", { sql: "SELECT 1 + 1" }),
  wrong: await call("query", { sql: "SELECT 1", rows: 1 }),
  held: await call("write", { statements: [{ sql: statement }] }),
  resources: (await client.listResources()).resources.length,
  prompts: (await client.listPrompts()).prompts.length,
};
await client.close();
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(seen)));
