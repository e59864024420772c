// The request of a coding agent in the middle of its work: 40 messages, 25 tools, about 100 KB, as chat, as Messages and as Responses.

const STEPS = 19;
const TOOLS = 25;
const INSTRUCTIONS_BYTES = 14_000;
const DESCRIPTION_BYTES = 800;
const RESULT_BYTES = 2_300;
const MAX_TOKENS = 512;

const PROSE = "Read a file before you change it, keep to the style around it, and run the tests that cover it.\n";
const CODE = 'export function total(items) {\n  return items.reduce((sum, { price }) => sum + price, 0); // "IDR"\n}\n';
const EPHEMERAL = { cache_control: { type: "ephemeral" } };

type AgentTool = { readonly name: string; readonly description: string; readonly schema: object };
type Step = {
  readonly id: string;
  readonly name: string;
  readonly said: string;
  readonly input: object;
  readonly result: string;
};

const tools = Array.from({ length: TOOLS }, (_, index): AgentTool => {
  const path = { type: "string", description: "The path, from the root of the project." };
  const limit = { type: "integer", minimum: 1, description: "The most lines that are returned." };
  const schema = { type: "object", properties: { path, limit }, required: ["path"], additionalProperties: false };
  return { name: `tool_${index}`, description: text(PROSE, DESCRIPTION_BYTES), schema };
});

const steps = Array.from({ length: STEPS }, (_, index): Step => ({
  id: `call_${index}`,
  name: `tool_${index % TOOLS}`,
  said: "I look at the next file.",
  input: { path: `src/part-${index}/total.ts`, limit: 200 },
  result: text(CODE, RESULT_BYTES),
}));

const INSTRUCTIONS = text(PROSE, INSTRUCTIONS_BYTES);
const TASK = "Make the totals right, and show me what you changed.";

/** The body as chat. */
export function agentChatBody({ model, stream }: { readonly model: string; readonly stream: boolean }): object {
  return {
    model,
    messages: [
      { role: "system", content: INSTRUCTIONS },
      { role: "user", content: TASK },
      ...steps.flatMap(({ id, name, said, input, result }) => [
        {
          role: "assistant",
          content: said,
          tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
        },
        { role: "tool", tool_call_id: id, content: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: schema },
    })),
    max_tokens: MAX_TOKENS,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  };
}

/** The body as Messages, with the marks that an agent sets. */
export function agentMessagesBody({ model, stream }: { readonly model: string; readonly stream: boolean }): object {
  const last = steps.length - 1;
  return {
    model,
    system: [{ type: "text", text: INSTRUCTIONS, ...EPHEMERAL }],
    messages: [
      { role: "user", content: TASK },
      ...steps.flatMap(({ id, name, said, input, result }, index) => [
        {
          role: "assistant",
          content: [
            { type: "text", text: said },
            { type: "tool_use", id, name, input },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: id, content: result, ...(index === last ? EPHEMERAL : {}) }],
        },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    max_tokens: MAX_TOKENS,
    stream,
  };
}

/** The body as Responses, which keeps nothing at the provider. */
export function agentResponsesBody({ model, stream }: { readonly model: string; readonly stream: boolean }): object {
  return {
    model,
    instructions: INSTRUCTIONS,
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: TASK }] },
      ...steps.flatMap(({ id, name, said, input, result }) => [
        { type: "message", role: "assistant", content: [{ type: "output_text", text: said }] },
        { type: "function_call", call_id: id, name, arguments: JSON.stringify(input) },
        { type: "function_call_output", call_id: id, output: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      name,
      description,
      parameters: schema,
      strict: false,
    })),
    tool_choice: "auto",
    parallel_tool_calls: true,
    max_output_tokens: MAX_TOKENS,
    store: false,
    stream,
  };
}

function text(sample: string, bytes: number): string {
  return sample.repeat(Math.ceil(bytes / sample.length)).slice(0, bytes);
}
