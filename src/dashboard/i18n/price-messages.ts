// Messages for the prices of token kinds that only few models price separately.

import type { Messages } from "./language.tsx";

export const PRICE_MESSAGES = {
  id: {
    input: "Input",
    output: "Output",
    cacheHit: "Cache",
    cacheWrite: "Tulis cache",
    cacheWrite1h: "Tulis cache 1 jam",
    audioInput: "Input audio",
    imageInput: "Input gambar",
    imageOutput: "Output gambar",
    perRequest: "Per permintaan",
    longContext: "Token input di atas",
  },
  en: {
    input: "Input",
    output: "Output",
    cacheHit: "Cache",
    cacheWrite: "Cache write",
    cacheWrite1h: "Cache write, 1 hour",
    audioInput: "Audio input",
    imageInput: "Image input",
    imageOutput: "Image output",
    perRequest: "Per request",
    longContext: "Input tokens above",
  },
} satisfies Messages<Record<string, string>>;
