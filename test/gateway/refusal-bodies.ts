// Error bodies of real upstreams, in their own words, for the tests of what a refusal means.

/** An upstream, the status of its refusal, and the body: an object, or text that is no JSON. */
export type RefusalCase = readonly [upstream: string, status: number, body: unknown];
/** An error in the place where most upstreams put it. */
export const nested = (error: object) => ({ error });

/** Whose input is too long, also together with the bound on the output. */
export const TOO_LONG: readonly RefusalCase[] = [
  [
    "OpenAI",
    400,
    nested({
      message:
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    }),
  ],
  ["OpenAI, by its code alone", 400, nested({ message: "", code: "context_length_exceeded" })],
  ["OpenAI, newer", 400, nested({ message: "Your input exceeds the context window of this model." })],
  [
    "vLLM",
    400,
    {
      object: "error",
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
  ],
  [
    "vLLM, whose bound does not fit beside the input",
    400,
    nested({
      message:
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 8000 input tokens (32000 > 32768 - 8000).",
      type: "BadRequestError",
      code: 400,
    }),
  ],
  [
    "DeepSeek",
    400,
    nested({
      message:
        "This model's maximum context length is 65536 tokens. However, you requested 69000 tokens (61000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.",
      type: "invalid_request_error",
      param: null,
      code: "invalid_request_error",
    }),
  ],
  [
    "Gemini",
    400,
    [
      nested({
        code: 400,
        message: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        status: "INVALID_ARGUMENT",
      }),
    ],
  ],
  [
    "Anthropic",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 213462 tokens > 200000 maximum" },
    },
  ],
  [
    "Anthropic, with the bound",
    400,
    {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000",
      },
    },
  ],
  [
    "OpenRouter",
    400,
    nested({
      message:
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (149000 of text input, 1000 in the output).",
      code: 400,
      metadata: { provider_name: null },
    }),
  ],
  [
    "OpenRouter, handing on what a provider said",
    400,
    nested({
      message: "Provider returned error",
      code: 400,
      metadata: {
        provider_name: "Anthropic",
        raw: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}',
      },
    }),
  ],
  [
    "xAI",
    400,
    {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
  ],
  [
    "Groq",
    400,
    nested({
      message: "Please reduce the length of the messages or completion.",
      type: "invalid_request_error",
      code: "context_length_exceeded",
    }),
  ],
  [
    "Mistral",
    400,
    {
      object: "error",
      message: "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      type: "invalid_request_prompt",
      code: 3051,
    },
  ],
  [
    "llama.cpp",
    400,
    nested({
      code: 400,
      message: "the request exceeds the available context size, try increasing it",
      type: "exceed_context_size_error",
      n_prompt_tokens: 9000,
      n_ctx: 4096,
    }),
  ],
  ["LM Studio", 400, { error: "The number of tokens to keep from the prompt is greater than the context length" }],
  ["Ollama", 400, nested({ message: "the input length exceeds the context length", type: "invalid_request_error" })],
  [
    "text-generation-inference",
    422,
    {
      error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
      error_type: "validation",
    },
  ],
  [
    "SGLang",
    400,
    { object: "error", message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." },
  ],
  [
    "Moonshot",
    400,
    nested({
      message: "Invalid request: Your request exceeded model token limit: 262144",
      type: "invalid_request_error",
    }),
  ],
  [
    "DashScope",
    400,
    nested({ message: "Range of input length should be [1, 129024]", code: "invalid_parameter_error" }),
  ],
  [
    "Anthropic, a body that is too large",
    413,
    { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
  ],
];

/** Whose content is refused. */
export const AGAINST_POLICY: readonly RefusalCase[] = [
  [
    "Azure",
    400,
    nested({
      message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      type: null,
      param: "prompt",
      code: "content_filter",
      innererror: { code: "ResponsibleAIPolicyViolation" },
    }),
  ],
  [
    "OpenAI",
    400,
    nested({
      message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
      type: "invalid_request_error",
      code: "invalid_prompt",
    }),
  ],
  [
    "OpenAI, pictures",
    400,
    nested({
      message: "Your request was rejected as a result of our safety system.",
      code: "content_policy_violation",
    }),
  ],
  [
    "DeepSeek",
    400,
    nested({ message: "Content Exists Risk", type: "invalid_request_error", code: "invalid_request_error" }),
  ],
  [
    "DashScope",
    400,
    nested({ message: "Input data may contain inappropriate content.", code: "data_inspection_failed" }),
  ],
  [
    "Moonshot",
    400,
    nested({ message: "The request was rejected because it was considered high risk", type: "content_filter" }),
  ],
  [
    "Anthropic",
    400,
    { type: "error", error: { type: "invalid_request_error", message: "Output blocked by content filtering policy" } },
  ],
  ["LiteLLM", 400, nested({ message: "litellm.ContentPolicyViolationError: refused", type: null, code: "400" })],
  [
    "OpenRouter",
    403,
    nested({
      code: 403,
      message: "Content flagged by moderation",
      metadata: { reasons: ["violence"], flagged_input: "…", provider_name: "OpenAI" },
    }),
  ],
  [
    "xAI",
    403,
    {
      code: "The caller does not have permission to execute the specified operation",
      error: "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
    },
  ],
];

/** Wrong for another reason, though the words are alike. */
export const NEITHER: readonly RefusalCase[] = [
  [
    "a bound above the model's",
    400,
    nested({ message: "max_tokens is too large: 100000. This model supports at most 16384 completion tokens." }),
  ],
  [
    "a parameter that is not supported",
    400,
    nested({ message: "Unsupported parameter: 'top_k'", code: "unsupported_parameter" }),
  ],
  [
    "a limit per minute",
    413,
    nested({
      message: "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000",
      code: "rate_limit_exceeded",
    }),
  ],
  ["a picture too large", 400, nested({ message: "The image is too large: 25 MB, at most 20 MB." })],
  ["a page", 400, "<html>maximum context length</html>"],
  ["nothing", 400, ""],
];
