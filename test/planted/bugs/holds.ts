// Guards of what is held for texts and for media: no honest count is above it.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const texts = (test: string) => ({ file: "test/gateway/texts-within-holds.test.ts", test });
const sizes = (test: string) => ({ file: "src/gateway/admission/hold.test.ts", test });
const media = (test: string) => ({ file: "test/gateway/media-within-holds.test.ts", test });
const documents = (test: string) => ({ file: "test/gateway/documents.test.ts", test });
const DOCUMENTS = "admission/held-documents.ts";
const MEDIA = "admission/held-media.ts";
const DENSE = "request/dense-text.ts";

/** Each with the test that must notice it. */
export const HOLD_BUGS: readonly PlantedBug[] = [
  {
    name: "the data of a picture is held as a text where another protocol than chat was translated",
    edits: [
      gateway(
        "request/read-request.ts",
        "return request.media.items.length === 0 ? request : readRequest(body);",
        "return request;",
      ),
    ],
    noticedBy: { file: "src/gateway/request/written-request.test.ts", test: "leaves the data of pictures" },
  },
  {
    name: "a request that was translated may have any depth and size",
    edits: [gateway("request/read-request.ts", "requireJsonBounds(json);", "")],
    noticedBy: { file: "src/gateway/request/written-request.test.ts", test: "has at most as many brackets" },
  },
  {
    name: "a request that was translated is not checked",
    edits: [
      gateway(
        "request/read-request.ts",
        "if (problems.length > 0) throw new ValidationError(problems.slice(0, MAX_PROBLEMS));",
        "if (problems.length > 0 && members !== null) throw new ValidationError(problems.slice(0, MAX_PROBLEMS));",
      ),
    ],
    noticedBy: { file: "src/gateway/request/written-request.test.ts", test: "is sized, bounded and refused" },
  },
  {
    name: "a hold is sized by the bytes of a text, two for a token",
    edits: [
      gateway(
        "admission/hold.ts",
        "const tokens = denseTokens(request.body, bounds);",
        "const tokens = Math.min(denseTokens(request.body, bounds), Math.ceil(request.body.length / 2));",
      ),
    ],
    noticedBy: texts("by tokenizers of OpenAI's"),
  },
  {
    name: "digits are held as letters are",
    edits: [gateway(DENSE, 'if (byte >= 0x30 && byte <= 0x39) return "digit";', 'if (byte === 0x30) return "digit";')],
    noticedBy: texts("a text has no more tokens than its hold"),
  },
  {
    name: "letters of rare scripts are held as known ones are",
    edits: [gateway(DENSE, "return known?.[3] ?? TOKEN;", "return known?.[3] ?? 2;")],
    noticedBy: texts("a text has no more tokens than its hold"),
  },
  {
    name: "a repeated syllable is held as a common word is",
    edits: [gateway(DENSE, "word === next && word !== FOUR_SPACES", "word !== word")],
    noticedBy: texts("a text has no more tokens than its hold"),
  },
  {
    name: "the hold of the densest tokenizer is that of any other",
    edits: [gateway("admission/hold-additions.ts", "? DENSE_TOKENS_PER_TOKEN : 1", "? 1 : 1")],
    noticedBy: texts("where the model has the tokenizer with the most tokens"),
  },
  {
    name: "the text behind a picture is not held for",
    edits: [
      gateway(
        DENSE,
        "[...without, { start: text.length, end: text.length }]",
        "without.length > 0 ? without : [{ start: text.length, end: text.length }]",
      ),
    ],
    noticedBy: sizes("has all text beside a picture, before and behind it"),
  },
  {
    name: "a picture is held at the operator's figure alone",
    edits: [
      gateway(MEDIA, 'item.modality === "image" ? ofPicture(item, body, readers)', 'item.modality === "image" ? 0'),
    ],
    noticedBy: media("a picture is held at the most that is charged for it"),
  },
  {
    name: "a picture is held for the first of several routes",
    edits: [gateway(MEDIA, "of readers) {", "of readers.slice(0, 1)) {")],
    noticedBy: media("a picture is held at the most that is charged for it"),
  },
  {
    name: "a picture whose size is not seen is held as a small one",
    edits: [gateway(MEDIA, "size === null ? MOST_OF_A_PICTURE", "size === null ? 0")],
    noticedBy: media("by its size, where the model scales no picture down"),
  },
  {
    name: "the size of a picture is read from data that is written with escapes",
    edits: [gateway(MEDIA, 'text.includes("\\\\") ||', "")],
    noticedBy: media("as the largest where its data has escapes"),
  },
  {
    name: "the resolution of a part is not held for",
    edits: [
      gateway(
        "conversation/gemini/media-resolution.ts",
        "if (isObject(resolution)) most",
        "if (isObject(resolution) && most === 0) most",
      ),
    ],
    noticedBy: media("at the resolution that a client asks Google for"),
  },
  {
    name: "a sound is as long as the rate in its head claims",
    edits: [
      gateway(
        MEDIA,
        "Math.min(file.readUInt32LE(28), file.readUInt32LE(24) * channelBytes)",
        "file.readUInt32LE(28) + 0 * channelBytes",
      ),
    ],
    noticedBy: media("plain samples whose head claims a higher rate"),
  },
  {
    name: "a video behind an address is held as a short one",
    edits: [gateway(MEDIA, ": MOST_OF_A_VIDEO;", ": 0;")],
    noticedBy: media("video behind an address"),
  },
  {
    name: "a sound of the provider's account may be named",
    edits: [gateway("request/check-messages.ts", 'message["audio"] !== undefined &&', 'message["audio"] === 0 &&')],
    noticedBy: { file: "src/gateway/request/read-request.test.ts", test: "an answer in sound that the provider keeps" },
  },
  {
    name: "a document is held by what it shows of its pages",
    edits: [gateway(DOCUMENTS, "tokens = MOST_OF_A_DOCUMENT;", "tokens += (pages ?? 1) * 8_192;")],
    noticedBy: documents("is held and bounded at the whole context window"),
  },
  {
    name: "a sound behind a tag is held as MP3, whatever it is",
    edits: [
      gateway(
        MEDIA,
        "const at = tagLength(file);",
        'if (file.toString("latin1", 0, 3) === "ID3") return true;\nconst at = 0;',
      ),
    ],
    noticedBy: media("sound and video are held by how long they can be"),
  },
  {
    name: "a tool that may not be called now is held as half of its text",
    edits: [gateway("conversation/responses/unseen-text.ts", "isOfSome(choice) ? bytesOf : ofTool", "ofTool")],
    noticedBy: {
      file: "src/gateway/conversation/responses/unseen-text.test.ts",
      test: "has every tool beside a choice of some",
    },
  },
  {
    name: "documents are not in the hold",
    edits: [gateway("admission/hold.ts", "if (documents.tokens > 0) media", "if (documents.tokens < 0) media")],
    noticedBy: documents("is held and bounded at the whole context window"),
  },
  {
    name: "an upstream that speaks chat gets a conversation without its document",
    edits: [
      gateway(
        "answer/route-requests.ts",
        'document !== undefined && (protocol === "chat" ||',
        "document !== undefined && (",
      ),
    ],
    noticedBy: documents("goes to the upstream that reads it"),
  },
];
