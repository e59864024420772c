// Requests in the shapes of coding agents, made small: who sends which members, which roles and which kinds of content.

const tool = (name: string, more: Record<string, unknown> = {}): object => ({
  type: "function",
  function: { name, description: `Runs ${name}.`, parameters: { type: "object", properties: {} }, ...more },
});
const text = (said: string): object => ({ type: "text", text: said });
const call = (name: string, args: object): object => ({
  id: "call_1",
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});

const system = { role: "system", content: "You are a coding agent. Work in small steps and say what you did." };
const hello = { role: "user", content: "say hi" };
const streaming = { stream: true, stream_options: { include_usage: true } };

/** Each agent's requests: the first of a session, and one that brings a tool's result. */
export const agentRequests: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  "an agent in the editor": [
    { messages: [system, hello], tools: [tool("read_files")], tool_choice: "auto", ...streaming },
    {
      messages: [
        system,
        hello,
        { role: "assistant", content: null, tool_calls: [call("read_files", { files: [{ path: "hello.txt" }] })] },
        { role: "tool", tool_call_id: "call_1", content: '[{"path":"hello.txt","content":"hello"}]' },
      ],
      tools: [tool("read_files"), tool("search_codebase")],
      tool_choice: "auto",
      ...streaming,
    },
  ],
  "an extension that speaks while it calls": [
    {
      messages: [
        system,
        hello,
        { role: "assistant", content: "", tool_calls: [call("Read", { filepath: "hello.txt" })] },
        { role: "tool", content: "hello", tool_call_id: "call_1" },
      ],
      tools: [tool("Read"), tool("Write")],
      max_tokens: 16_384,
      ...streaming,
    },
  ],
  "a client that sets every sampling parameter": [
    {
      messages: [system, hello],
      temperature: 0,
      top_p: 0.95,
      frequency_penalty: 0,
      presence_penalty: 0,
      tools: [tool("bash"), tool("read_bash")],
      ...streaming,
    },
  ],
  "a terminal agent with content in parts": [
    {
      messages: [system, { role: "user", content: [text("The folder:"), text("a.ts"), text("b.ts")] }, hello],
      tools: [tool("LS")],
      max_tokens: 16_384,
      temperature: 1,
      ...streaming,
    },
    {
      messages: [
        system,
        { role: "user", content: [text("say hi")] },
        { role: "assistant", content: null, tool_calls: [call("agent", { goal: "hi" })] },
        { role: "tool", tool_call_id: "call_1", content: [text("hi was said")] },
      ],
      max_tokens: 32_000,
      // A tool without parameters.
      tools: [tool("agent"), { type: "function", function: { name: "get_goal", description: "Reads the goal." } }],
      ...streaming,
    },
  ],
  "an agent that asks for the whole context window": [
    {
      messages: [system, hello, { role: "user", content: "<reminder>Today is Friday.</reminder>" }],
      tools: [tool("Agent"), tool("AgentSwarm")],
      prompt_cache_key: "session_ba7f6213-cfbb-4548-ac28-600bcf0440a1",
      max_tokens: 131_072,
      ...streaming,
    },
  ],
  "an agent that speaks as developer": [
    {
      messages: [
        { role: "developer", content: "Answer briefly." },
        { role: "user", content: [text("say hi")] },
      ],
      store: false,
      max_completion_tokens: 16_384,
      tools: [tool("read", { strict: false }), tool("bash", { strict: false })],
      reasoning_effort: "high",
      ...streaming,
    },
  ],
  "an agent that lets its title be written": [
    { max_tokens: 16_384, messages: [system, { role: "user", content: "Generate a title:" }, hello], ...streaming },
  ],
  "a client newer than this gateway": [
    {
      messages: [
        system,
        { role: "user", content: "say hi", cache_hint: { ttl: 300 } },
        { role: "assistant", content: "hi", reasoning_content: "The user wants hi.", annotations: [] },
        { role: "function", name: "clock", content: "12:00" },
        hello,
      ],
      metadata: { session: "1" },
      parallel_tool_calls: true,
      response_format: { type: "text" },
      seed: 7,
      stop: ["<end>"],
      user: "u1",
      verbosity: "low",
      invented_next_year: { deeply: [{ nested: null }] },
    },
  ],
};
