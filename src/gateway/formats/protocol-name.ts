/** The protocols in which clients ask and upstreams answer: OpenAI's chat completions and Responses, Anthropic's Messages, Gemini's. */
export type ProtocolName = "chat" | "messages" | "responses" | "gemini";
