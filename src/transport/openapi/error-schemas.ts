// The schemas of error bodies: ours, OpenAI's, that of an error inside a stream, and the merchants' envelope.

import { VALIDATION_REASONS } from "../../kernel/errors.ts";

const message = { type: "string", description: "What went wrong, for a person." };

const field = {
  type: "object",
  description: "One field that was wrong.",
  required: ["field", "rule", "message"],
  properties: {
    field: { type: "string", description: "Where it is, such as `messages[0].role`. Empty: the body as a whole." },
    rule: {
      type: "string",
      description:
        "The rule it breaks, such as `required`. A program may compare it. `too_complex`: the body has more than 200 000 brackets, commas and colons outside of strings.",
    },
    message: { type: "string", description: "What is wrong, for a person." },
  },
};

const details = {
  type: "array",
  items: { $ref: "#/components/schemas/FieldProblem" },
  description: "The fields that were wrong. Only with `validation_error`.",
};

const facts = {
  details,
  requestId: {
    type: "string",
    format: "uuid",
    description: "The id to name when asking for help. Only with `internal_error`.",
  },
};

const available = {
  type: "string",
  description: "Rupiah available on the account, a decimal string. Only with `insufficient_balance`.",
};

const owed = {
  type: "string",
  description:
    "What the account owes for payments that were reversed, in rupiah, a decimal string; the next top-up pays it first. Only with `insufficient_balance`, where something is owed.",
};

const budget = {
  left_idr: {
    type: "string",
    description:
      "What is neither spent nor held of the budget, in rupiah, a decimal string. Only with `key_budget_exceeded` and `member_budget_exceeded`.",
  },
  needed_idr: {
    type: "string",
    description:
      "What the request needed, in rupiah, a decimal string. Only with `insufficient_balance`, `key_budget_exceeded` and `member_budget_exceeded`.",
  },
  resets_at: {
    type: "string",
    format: "date-time",
    description:
      "When the budget begins again. Only with `key_budget_exceeded` and `member_budget_exceeded`, and absent where it never does.",
  },
};

const retryAfter = {
  type: "integer",
  minimum: 1,
  maximum: 60,
  description:
    "Seconds after which a try makes sense. Only with `rate_limit`, `token_limit_exceeded`, `upstream_busy` and `already_running`. Absent from `token_limit_exceeded` where the request needs more than the limit: no retry can succeed.",
};

const limits = {
  request_limit: {
    type: "integer",
    description: "How many requests in 60 seconds the key allows. Only with `rate_limit`, where it is that of a key.",
  },
  token_limit: {
    type: "integer",
    description: "How many tokens in 60 seconds the key allows. Only with `token_limit_exceeded`.",
  },
  tokens_left: {
    type: "integer",
    description: "How many of them are left now. Only with `token_limit_exceeded`.",
  },
  tokens_needed: {
    type: "integer",
    description: "The fewest tokens with which the request is useful. Only with `token_limit_exceeded`.",
  },
};

/** What kernel/refusal-facts.ts writes. */
const refusal = { available_idr: available, ...budget, owed_idr: owed, ...limits };

const chatFacts = {
  ...facts,
  ...refusal,
  retry_after: retryAfter,
  request_id: {
    type: "string",
    description: "The request that was answered under the same `Idempotency-Key`. Only with `already_answered`.",
  },
  cost_idr: {
    type: "string",
    description: "What that request was charged, in rupiah, a decimal string. Only with `already_answered`.",
  },
  status: {
    type: "integer",
    description: "The HTTP status of that request's answer. Only with `already_answered`.",
  },
};

const openAiType = { type: "string", description: "The kind of error, as OpenAI has it, such as `server_error`." };
const openAiCode = {
  type: "string",
  description:
    "What a program acts on: the code, or with `validation_error` the reason where there is one, such as `context_length_exceeded`.",
};

/** The schemas of error bodies, by name. */
export const errorSchemas = {
  FieldProblem: field,
  Error: {
    type: "object",
    description: "What went wrong.",
    required: ["error", "message"],
    properties: {
      error: { type: "string", description: "The code: what a program acts on." },
      code: {
        type: "string",
        enum: VALIDATION_REASONS,
        description:
          "What is wrong with the request, where a program can act on it. Only with `validation_error`. `context_length_exceeded`: the input, or the input with the bound on the output, is longer than the model's context window. `content_policy_violation`: the model's provider refuses the content.",
      },
      message,
      ...chatFacts,
    },
  },
  OpenAiError: {
    type: "object",
    description: "What went wrong, in OpenAI's shape. Only with the request header `x-saldo-error-format: openai`.",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        required: ["message", "type", "param", "code"],
        properties: {
          message,
          type: openAiType,
          param: {
            type: ["string", "null"],
            description: "The first field that was wrong. Null: it is about no field.",
          },
          code: openAiCode,
          ...chatFacts,
        },
      },
    },
  },
  MessagesError: {
    type: "object",
    description: "What went wrong, in the shape of Anthropic's Messages.",
    required: ["type", "error", "request_id"],
    properties: {
      type: { const: "error" },
      error: {
        type: "object",
        required: ["type", "message", "details"],
        properties: {
          type: { type: "string", description: "The kind of error, as Anthropic has it, such as `overloaded_error`." },
          message,
          details: {
            type: "object",
            required: ["error_code"],
            properties: {
              error_code: { type: "string", description: "The code: what a program acts on." },
              ...refusal,
              retry_after: retryAfter,
            },
          },
        },
      },
      request_id: { type: "string", format: "uuid", description: "The id to name when asking for help." },
    },
  },
  ResponsesError: {
    type: "object",
    description: "What went wrong, in the shape of OpenAI's Responses.",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        required: ["message", "type", "param", "code"],
        properties: {
          message,
          type: openAiType,
          param: {
            type: ["string", "null"],
            description: "The first field that was wrong. Null: it is about no field.",
          },
          code: openAiCode,
          ...refusal,
          retry_after: retryAfter,
        },
      },
    },
  },
  GeminiError: {
    type: "object",
    description: "What went wrong, in the shape of Google's Gemini API. It also ends a stream that broke off.",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        required: ["code", "message", "status", "details"],
        properties: {
          code: { type: "integer", description: "The HTTP status." },
          message,
          status: { type: "string", description: "The kind of error, as Google has it, such as `UNAVAILABLE`." },
          details: {
            type: "array",
            items: { type: "object", required: ["@type"], additionalProperties: true },
            description:
              "`ErrorInfo` has the code in capitals as its `reason`. Its `metadata` has the amounts of a refusal as texts, by the names of `Error`, such as `left_idr`. `BadRequest` has the fields that were wrong, and `RetryInfo` when a try makes sense.",
          },
        },
      },
    },
  },
  StreamError: {
    type: "object",
    description: "Why a stream broke off. It has OpenAI's shape, whichever form was asked for.",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        required: ["message", "type", "code"],
        properties: {
          message,
          type: openAiType,
          code: openAiCode,
          details,
          retry_after: retryAfter,
          cost_idr: {
            type: "string",
            description: "What was charged for the part that was delivered, in rupiah, a decimal string.",
          },
          ...refusal,
          available: { ...available, description: `The same as \`available_idr\`, by its former name.` },
          needed: {
            type: "string",
            description: "The same as `needed_idr`, by its former name. Only with `insufficient_balance`.",
          },
        },
      },
    },
  },
  MerchantError: {
    type: "object",
    description: "What went wrong.",
    required: ["meta"],
    properties: {
      meta: {
        type: "object",
        required: ["message", "statusCode", "error"],
        properties: {
          message,
          statusCode: { type: "integer", description: "The HTTP status." },
          error: { type: "string", description: "The code: what a program acts on." },
          differingFields: {
            type: "array",
            items: { type: "string" },
            description:
              "The fields that differ from those of the first order under the `externalId`. Only with `external_id_conflict`.",
          },
          ...facts,
        },
      },
    },
  },
} as const;
