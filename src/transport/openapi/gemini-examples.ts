// Examples of the operations of Gemini's protocol.

const contents = [{ role: "user", parts: [{ text: "Say hello in Indonesian." }] }];
const contentBody = { contents, generationConfig: { maxOutputTokens: 100 } };
const halo = { content: { role: "model", parts: [{ text: "Halo!" }] }, index: 0 };
const contentUsage = {
  promptTokenCount: 12,
  cachedContentTokenCount: 0,
  candidatesTokenCount: 3,
  thoughtsTokenCount: 0,
  totalTokenCount: 15,
  costIdr: "0.105",
};

/** The examples by method, for one model. */
export function geminiExamples(model: string) {
  const parameters = { model };
  const content = { modelVersion: model, responseId: "01a20a18-90e1-71af-abb6-25530962f602" };
  return {
    GenerateContent: {
      parameters,
      body: contentBody,
      data: { candidates: [{ ...halo, finishReason: "STOP" }], usageMetadata: contentUsage, ...content },
    },
    StreamGenerateContent: {
      parameters,
      body: contentBody,
      data: {},
      events: {
        text: { candidates: [halo], ...content },
        end: {
          candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP", index: 0 }],
          usageMetadata: contentUsage,
          ...content,
        },
        error: {
          error: {
            code: 409,
            message: "The answer was cut off by the upstream. Rp 0.105 were billed for what was delivered.",
            status: "ABORTED",
            details: [
              { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "UPSTREAM_BUSY", domain: "saldo" },
            ],
          },
        },
      },
    },
    CountContentTokens: { parameters, body: { contents }, data: { totalTokens: 12 } },
  };
}
