// Examples of the operations, by the name of their method. A test compares each with its schema.

import { alertExamples } from "./alert-examples.ts";
import { autoTopUpExamples } from "./auto-top-up-examples.ts";
import { geminiExamples } from "./gemini-examples.ts";

/** A request and its answer. `parameters` by name; `body` and `data` without the envelope of merchant paths. */
export type Example = {
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  readonly data: unknown;
  /** The media types of an answer that is a file. */
  readonly mediaTypes?: readonly string[];
  /** The members of `meta` beside `message` and `statusCode`. */
  readonly meta?: object;
  /** The data of events, each with what it shows as its name. */
  readonly events?: Readonly<Record<string, object>>;
};

const model = {
  id: "acme/large",
  kind: "chat",
  object: "model",
  type: "model",
  created: 1_795_392_000,
  created_at: "2026-11-23T00:00:00.000Z",
  owned_by: "acme",
  name: "Acme Large",
  display_name: "Acme Large",
  description: "A large model for long conversations.",
  context_length: 131_072,
  max_output_tokens: 8192,
  architecture: { input_modalities: ["text", "image"] },
  pricing: {
    currency: "IDR",
    unit: "per_1m_tokens",
    input: "5000",
    output: "15000",
    cache_hit: "500",
    cache_hit_percent: 10,
  },
  native_protocols: ["chat"],
};

const chatId = "chatcmpl-01a20a18-90e1-71af-abb6-25530962f602";
const usage = {
  prompt_tokens: 12,
  completion_tokens: 3,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 0 },
  cost_idr: "0.105",
};
const piece = { id: chatId, object: "chat.completion.chunk", created: 1_795_392_000, model: model.id };

const receipt = {
  id: "01a20a18-90e1-71af-abb6-25530962f604",
  number: "KW-2026-000123",
  kind: "RECEIPT_KIND_RECEIPT",
  topUpId: "01a20a18-90e1-71af-abb6-25530962f605",
  net: "250000",
  tax: "27500",
  total: "277500",
  taxPercent: "11",
  seller: { name: "PT Contoh Penjual", address: "Jakarta", npwp: "0012345678901000" },
  buyer: { name: "PT Contoh Pembeli", address: "Bandung", npwp: "" },
  datedAt: "2026-11-26T09:05:00Z",
  issuedAt: "2026-11-26T09:05:03Z",
  provider: "midtrans",
};

const statement = {
  month: "2026-11",
  complete: true,
  openingBalance: "1250.5",
  closingBalance: "251000.25",
  sums: [
    { reason: "top_up", count: "1", amount: "250000" },
    { reason: "usage", count: "3", amount: "-250.25" },
  ],
  usage: [{ model: model.id, requests: "3", inputTokens: "1200", outputTokens: "340", charge: "250.25" }],
  entries: [
    {
      postedAt: "2026-11-26T09:05:00Z",
      reason: "top_up",
      amount: "250000",
      topUpId: receipt.topUpId,
      receiptNumber: receipt.number,
    },
  ],
  entriesLeftOut: 0,
  seller: receipt.seller,
  buyer: receipt.buyer,
};

const quote = { currencyCode: "TRX", network: "tron", receivedAmount: 10, fee: 1.1, totalAmount: 11.1 };

const transferId = "01a20a18-90e1-71af-abb6-25530962f603";
const orderedAt = "2026-11-23T08:00:00.000Z";
const order = {
  externalId: "order-1",
  currencyCode: "TRX",
  amount: 10,
  address: "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC",
};
const pendingEvent = {
  id: "01a20a18-90e1-71af-abb6-25530962f604",
  status: "PENDING",
  confirmations: 0,
  createdAt: orderedAt,
};
const pending = {
  id: transferId,
  slug: "t-06k0m3c8qz",
  externalId: order.externalId,
  status: "PENDING",
  amount: 11.1,
  totalAmount: 11.1,
  fee: 1.1,
  receivedAmount: 10,
  currencyCode: "TRX",
  network: "tron",
  address: order.address,
  confirmations: 0,
  paymentType: "BALANCE",
  createdAt: orderedAt,
  updatedAt: orderedAt,
  history: [pendingEvent],
};
const sent = {
  confirmations: 19,
  transactionHash: "4d7a1f0c9b8e6a5d3c2b1a09f8e7d6c5b4a3928170605f4e3d2c1b0a99887766",
};
const confirmedAt = "2026-11-23T08:02:00.000Z";
const confirmed = { ...pending, ...sent, status: "CONFIRMED", updatedAt: confirmedAt, confirmedAt };
const confirmedEvent = {
  ...sent,
  id: "01a20a18-90e1-71af-abb6-25530962f605",
  status: "CONFIRMED",
  createdAt: confirmedAt,
};
const canceledEvent = { ...pendingEvent, id: confirmedEvent.id, status: "CANCELED", createdAt: confirmedAt };

const response = {
  id: "resp_01a20a18-90e1-71af-abb6-25530962f602",
  object: "response",
  created_at: piece.created,
  status: "completed",
  model: model.id,
  output: [
    {
      id: "msg_01a20a18-90e1-71af-abb6-25530962f602_0",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Halo!", annotations: [], logprobs: [] }],
    },
  ],
  error: null,
  incomplete_details: null,
  store: false,
  usage: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
    cost_idr: "0.105",
  },
};
const responseBody = { model: model.id, input: "Say hello in Indonesian.", max_output_tokens: 100, store: false };
const messageBody = {
  model: model.id,
  messages: [{ role: "user", content: "Say hello in Indonesian." }],
};
const message = { id: "msg_01a20a18-90e1-71af-abb6-25530962f602", type: "message", role: "assistant", model: model.id };
const messageUsage = {
  input_tokens: 12,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { thinking_tokens: 0 },
  cost_idr: "0.105",
};

/** The examples by method. */
export const examples: Readonly<Record<string, Example>> = {
  CreateChatCompletion: {
    body: { model: model.id, messages: [{ role: "user", content: "Say hello in Indonesian." }], max_tokens: 100 },
    data: {
      id: chatId,
      object: "chat.completion",
      created: piece.created,
      model: model.id,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Halo!", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage,
    },
    events: {
      text: {
        ...piece,
        choices: [{ index: 0, delta: { content: "Halo!" }, logprobs: null, finish_reason: null }],
        usage: null,
      },
      end: { ...piece, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }], usage: null },
      usage: { ...piece, choices: [], usage },
      error: {
        error: {
          message: "The answer was cut off by the upstream. Rp 0.105 were billed for what was delivered.",
          type: "server_error",
          code: "upstream_busy",
          cost_idr: "0.105",
        },
      },
    },
  },
  CreateResponse: {
    body: responseBody,
    data: response,
    events: {
      text: {
        type: "response.output_text.delta",
        item_id: "msg_01a20a18-90e1-71af-abb6-25530962f602_0",
        output_index: 0,
        content_index: 0,
        delta: "Halo!",
        logprobs: [],
        sequence_number: 3,
      },
      completed: { type: "response.completed", response, sequence_number: 7 },
      failed: {
        type: "response.failed",
        response: {
          ...response,
          status: "failed",
          output: [],
          error: { code: "server_error", message: "The service is busy. Try again in 5 seconds." },
          usage: null,
        },
        sequence_number: 1,
      },
    },
  },
  CountInputTokens: { body: responseBody, data: { object: "response.input_tokens", input_tokens: 12 } },
  CreateMessage: {
    body: { ...messageBody, max_tokens: 100 },
    data: {
      ...message,
      content: [{ type: "text", text: "Halo!" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: messageUsage,
    },
    events: {
      start: {
        type: "message_start",
        message: {
          ...message,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 11, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
        },
      },
      text: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Halo!" } },
      end: {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: messageUsage,
      },
      error: {
        type: "error",
        error: {
          type: "api_error",
          message: "The answer was cut off by the upstream. Rp 0.105 were billed for what was delivered.",
          details: { error_code: "upstream_busy" },
        },
        request_id: "01a20a18-90e1-71af-abb6-25530962f602",
      },
    },
  },
  CountTokens: { body: messageBody, data: { input_tokens: 12 } },
  ...geminiExamples(model.id),
  ...alertExamples,
  ...autoTopUpExamples,
  CreateEmbeddings: {
    body: { model: "acme/embed", input: ["Selamat pagi", "Good morning"], encoding_format: "float" },
    data: {
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: [0.0123, -0.0456, 0.0789] },
        { object: "embedding", index: 1, embedding: [0.0117, -0.0449, 0.0802] },
      ],
      model: "acme/embed",
      usage: { prompt_tokens: 6, total_tokens: 6, cost_idr: "0.00156" },
    },
  },
  ListModels: { data: { object: "list", data: [model], has_more: false, first_id: model.id, last_id: model.id } },
  GetStatus: {
    data: {
      state: "degraded",
      as_of: "2026-11-23T08:00:00.000Z",
      complete: true,
      components: [
        { kind: "gateway", name: "", state: "operational", incidents: [] },
        {
          kind: "upstream",
          name: "OpenAI",
          state: "degraded",
          since: "2026-11-23T07:52:00Z",
          incidents: [{ state: "degraded", began_at: "2026-11-23T07:52:00Z" }],
        },
        { kind: "top_ups", name: "", state: "operational", incidents: [] },
        { kind: "transfers", name: "", state: "operational", incidents: [] },
      ],
    },
  },
  GetKey: {
    data: {
      id: "01a20a18-90e1-71af-abb6-25530962f602",
      name: "laptop",
      prefix: "gw_aB3x",
      last_four: "9fQk",
      created_at: "2026-11-01T02:00:00Z",
      last_used_at: "2026-11-26T03:15:00Z",
      rate_limit: 60,
      token_limit: 100_000,
      tokens_left: 87_500,
      allowed_models: ["acme/*"],
      allowed_networks: ["203.0.113.0/24"],
      budget: {
        period: "day",
        limit_idr: "50000",
        spent_idr: "1250.5",
        held_idr: "249.5",
        left_idr: "48500",
        resets_at: "2026-11-26T17:00:00Z",
        time_zone: "Asia/Jakarta",
      },
    },
  },
  GetModel: { parameters: { id: model.id }, data: model },
  GetBalance: { data: { currency: "IDR", available: "9750.5", held: "249.5", posted: "10000", owed: "0" } },
  ListReceipts: {
    parameters: { pageSize: 50 },
    data: { receipts: [receipt], nextPageToken: "", sellerMissing: false },
  },
  GetReceipt: { parameters: { receiptId: receipt.id }, data: receipt },
  GetReceiptFile: {
    parameters: { receiptId: receipt.id, language: "id" },
    data: "%PDF-1.3",
    mediaTypes: ["application/pdf"],
  },
  ListStatements: { data: { months: [{ month: statement.month, complete: true }] } },
  GetStatement: { parameters: { month: statement.month }, data: statement },
  GetStatementFile: {
    parameters: { month: statement.month, format: "pdf", language: "id" },
    data: "%PDF-1.3",
    mediaTypes: ["application/pdf", "text/csv"],
  },
  CalculateTransfer: { body: { currencyCode: "TRX", amount: 10 }, data: quote },
  CreateTransfer: { body: order, data: pending },
  GetTransfer: { parameters: { id: transferId }, data: { ...confirmed, history: [pendingEvent, confirmedEvent] } },
  ListTransfers: {
    parameters: { page: 1, perPage: 10, fromDate: "2026-11-01", toDate: "2026-11-30", status: "CONFIRMED" },
    data: [{ ...confirmed, history: [] }],
    meta: { page: 1, perPage: 10, totalData: 1, totalPage: 1 },
  },
  CancelTransfer: {
    parameters: { id: transferId },
    data: { ...pending, status: "CANCELED", updatedAt: confirmedAt, history: [pendingEvent, canceledEvent] },
  },
  ListBalances: { data: [{ currencyCode: "TRX", available: 988.9, held: 11.1 }] },
};
