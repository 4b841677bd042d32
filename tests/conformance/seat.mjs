// Holds a seat of the council with the TypeScript client until no round is open, and prints, as
// JSON, which skills were used and which of the server's Agent Skills were read and verified.
// Usage: node seat.mjs URL TOKEN
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";

const [url, token] = process.argv.slice(2);
const client = new Client(
  { name: "salon-seat", version: "1.0.0" },
  { versionNegotiation: { mode: "auto" } },
);
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  }),
);

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.structuredContent)}`);
  return result.structuredContent;
}

async function draft(topic) {
  const { results } = await call("skill_qdrant_search", { query: topic, limit: 4 });
  const bytes = (text) => new TextEncoder().encode(text).length;
  const lines = [];
  const notes = [];
  // Another order than anybody else's: a text that is also a peer's cannot be voted on.
  results.reverse().forEach((one, index) => {
    const sentence = one.text.slice(0, one.text.indexOf(".") + 1);
    const place = `card:${one.hash}#${one.start}-${one.start + bytes(sentence)}`;
    lines.push(`${sentence}[^${index + 1}]`);
    notes.push(`[^${index + 1}]: ${JSON.stringify(sentence)} ${place}`);
  });
  return [`# ${topic}`, "", "## What is known", "", lines.join(" "), "", ...notes, ""].join("\n");
}

async function act(brief, due) {
  if (due === "draft" || due === "refinement") {
    const text = due === "draft" ? await draft(brief.topic) : brief.own.markdown;
    await call("skill_submit_candidate", { topic_id: brief.topic_id, markdown_content: text });
    return "skill_submit_candidate";
  }
  if (due === "fusion") {
    await call("skill_submit_fusion", {
      collaborator_ids: brief.collaborators,
      markdown_content: brief.fusing[0].markdown,
    });
    return "skill_submit_fusion";
  }
  if (brief.phase === "critique") {
    await call("skill_peer_review", { target_candidate_id: due, feedback: "Name the year." });
    return "skill_peer_review";
  }
  const scores = { accuracy: 9, depth: 8, pedagogy: 9 };
  await call("skill_cast_vote", { target_draft_id: due, scores, rationale: "Each is quoted." });
  return "skill_cast_vote";
}

const tools = (await client.listTools()).tools.map((tool) => tool.name);
const skills = new SkillsClient(client);
const supported = skills.supported;
const verified = {};
for (const skill of (await skills.list()).skills) {
  const files = skill.resources.map((one) => one.uri.slice(skill.uri.length - "SKILL.md".length));
  const read = await Promise.all(files.map((file) => skills.read(skill, file)));
  verified[skill.frontmatter.name] = read.every((file) => file.verified);
}
const wrong = await client.callTool({ name: "skill_qdrant_search", arguments: { qery: "x" } });

const used = [];
for (;;) {
  const brief = await call("council_brief", { wait_s: 5 });
  if (brief.round_id === null) break;
  for (const due of brief.due) used.push(await act(brief, due));
}
await client.close();
console.log(JSON.stringify({ tools, supported, verified, wrong, used }));
process.exit(0);
