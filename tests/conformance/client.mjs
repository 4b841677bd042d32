// Asks one server with both generations of the TypeScript SDK and prints what each got, as JSON.
// Usage: node client.mjs stdio COMMAND ARG… | node client.mjs http URL
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioOne } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientTwo, StreamableHTTPClientTransport as HttpTwo } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioTwo } from "@modelcontextprotocol/client/stdio";

const [way, target, ...args] = process.argv.slice(2);

async function ask(Client, Stdio, Http, options) {
  const client = new Client({ name: "salon-conformance", version: "1.0.0" }, options);
  const transport =
    way === "stdio"
      ? new Stdio({ command: target, args, env: process.env, stderr: "inherit" })
      : new Http(new URL(target));
  await client.connect(transport);
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  const info = await client.callTool({ name: "get_avatar_info", arguments: {} });
  const answer = await client.callTool({
    name: "generate_response",
    arguments: { question: "What happens to a canal that everyone uses and nobody mends?" },
  });
  const wrong = await client.callTool({ name: "query_corpus", arguments: { qery: "x" } });
  const resources = (await client.listResources()).resources.map((one) => one.uri);
  const prompt = await client.getPrompt({ name: "persona", arguments: {} });
  await client.close();
  return {
    server: client.getServerVersion()?.name,
    tools,
    info: info.structuredContent,
    answer: answer.structuredContent,
    wrong: JSON.parse(wrong.content[0].text),
    resources,
    prompt: prompt.messages.length,
  };
}

const found = {
  "sdk 1": await ask(ClientOne, StdioOne, HttpOne, {}),
  "client 2, 2025-11-25": await ask(ClientTwo, StdioTwo, HttpTwo, {}),
  "client 2, 2026-07-28": await ask(ClientTwo, StdioTwo, HttpTwo, {
    versionNegotiation: { mode: "auto" },
  }),
};
console.log(JSON.stringify(found));
process.exit(0);
