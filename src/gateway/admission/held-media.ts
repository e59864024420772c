// The tokens that are held for pictures, sound and video: the most that any provider which may read them is known to charge. What is
// billed where an upstream does not count them is the catalog's figure, which is lower for most.

import type { MediaModality } from "../../catalog/catalog-model.ts";
import type { ProtocolName } from "../formats/protocol-name.ts";
import type { MediaItem } from "../request/check-messages.ts";
import { originalSpan } from "../request/skeleton.ts";
import { type PictureSize, readPictureSize } from "./picture-size.ts";

/** Who may read a request: the protocol of an upstream, and the name of the model there. */
export type Reader = { readonly protocol: ProtocolName; readonly model: string };

/** What the media of a request depend on. */
export type MediaReaders = {
  readonly readers: readonly Reader[];
  /** The most tokens of a picture at the resolution that the client asks Google for; null: the default. */
  readonly pictureTokens: number | null;
};

/** A picture that no rule bounds: large ones have 50 000 tokens. */
export const MOST_OF_A_PICTURE = 65_536;
/** An hour of video has a million tokens. */
export const MOST_OF_A_VIDEO = 1_048_576;
const MOST_OF_A_SOUND = 16_777_216;

/** The most that Anthropic charges for a picture, whose longer side it scales to 2 576 pixels. */
const PICTURE_AT_ANTHROPIC = 4_784;
/** The most at Google, at its highest resolution. Older models cut a picture into tiles, and come to about as much. */
export const PICTURE_AT_GOOGLE = 2_240;
/** OpenAI's small model of 2024 charges for a tile as much as others for a picture: eight tiles, and the whole. */
const SMALL_OPENAI = /gpt-4o-mini/;
const PICTURE_AT_SMALL_OPENAI = 48_169;
const COARSE_PICTURE_AT_SMALL_OPENAI = 2_833;
/** 2 500 squares at the most tokens that a square has. */
const PICTURE_AT_OPENAI = 6_150;
const OPENAI = /(?:^|\/)(?:gpt|chatgpt|codex|o\d)/;
/** These models scale no picture down, unless a detail is named. */
const UNSCALED_OPENAI = /gpt-(?:5\.(?:[6-9]|\d\d)|[6-9])/;
const SCALED_DETAILS: ReadonlySet<string | null> = new Set(["low", "high"]);
const PIXELS_OF_A_SQUARE = 32;
const TOKENS_OF_A_SQUARE = 1.62;

/** The tokens of all media of a request, for each kind, given the catalog's figures for one part. */
export function heldMedia(
  { body, media }: { readonly body: Buffer; readonly media: { readonly items: readonly MediaItem[] } },
  figures: Readonly<Record<MediaModality, number>>,
  readers: MediaReaders,
): Map<MediaModality, number> {
  const held = new Map<MediaModality, number>();
  for (const item of media.items) {
    const figure = figures[item.modality];
    const tokens = Math.max(figure, item.modality === "image" ? ofPicture(item, body, readers) : ofTime(item, body));
    held.set(item.modality, (held.get(item.modality) ?? 0) + tokens);
  }
  return held;
}

function ofPicture(item: MediaItem, body: Buffer, { readers, pictureTokens }: MediaReaders): number {
  let most = 0;
  let size: PictureSize | null | undefined;
  for (const { protocol, model } of readers) {
    if (protocol === "messages") most = Math.max(most, PICTURE_AT_ANTHROPIC);
    else if (protocol === "gemini") most = Math.max(most, pictureTokens ?? PICTURE_AT_GOOGLE);
    else if (isUnscaled(item, model)) {
      if (size === undefined) size = readPictureSize(headOf(item, body));
      most = Math.max(most, size === null ? MOST_OF_A_PICTURE : tokensOfSquares(size));
    } else most = Math.max(most, ofScaledPicture(item, model));
  }
  return most;
}

function isUnscaled({ detail }: MediaItem, model: string): boolean {
  return detail === "original" || (UNSCALED_OPENAI.test(model) && !SCALED_DETAILS.has(detail));
}

function ofScaledPicture({ detail }: MediaItem, model: string): number {
  if (SMALL_OPENAI.test(model)) return detail === "low" ? COARSE_PICTURE_AT_SMALL_OPENAI : PICTURE_AT_SMALL_OPENAI;
  return OPENAI.test(model) ? PICTURE_AT_OPENAI : 0;
}

function tokensOfSquares({ width, height }: PictureSize): number {
  const squares = Math.ceil(width / PIXELS_OF_A_SQUARE) * Math.ceil(height / PIXELS_OF_A_SQUARE);
  return Math.ceil(squares * TOKENS_OF_A_SQUARE);
}

/** Providers charge for sound up to 32 tokens a second, and for video that and its pictures. */
const TOKENS_OF_A_SECOND = 32;
/** The least bytes of a second of MP3, whose lowest rate is eight kilobits. */
const LEAST_MP3_BYTES = 1_000;
/** Characters of base64 for three bytes. */
const CHARACTERS = 4;
const BYTES = 3;

function ofTime(item: MediaItem, body: Buffer): number {
  const dataBytes = Math.ceil((lengthOf(item) * BYTES) / CHARACTERS);
  if (item.modality === "video") {
    // A byte of video is less than a token, but for long pauses; behind an address any length may be.
    return item.source.startsWith("data:") ? dataBytes : MOST_OF_A_VIDEO;
  }
  const head = headOf(item, body);
  const rate = isMp3(head) ? LEAST_MP3_BYTES : bytesOfASecond(head);
  if (rate !== null) return secondsOf(dataBytes, rate) * TOKENS_OF_A_SECOND;
  // Other formats may write hours of silence in few bytes: a hold ends at the context window.
  return MOST_OF_A_SOUND;
}

function secondsOf(bytes: number, rate: number): number {
  return Math.ceil(bytes / rate);
}

/** By the mark of its first frame, behind a tag. What a client calls its format decides nothing. */
function isMp3(file: Buffer): boolean {
  const at = tagLength(file);
  const [first = 0, second = 0] = file.subarray(at, at + 2);
  return first === 0xff && (second & 0xe6) === 0xe2;
}

/** The length of a tag with a title or a picture, which any format may have before it. */
function tagLength(file: Buffer): number {
  if (file.length < TAG_HEAD_BYTES || file.toString("latin1", 0, 3) !== "ID3") return 0;
  // Seven bits of each byte count.
  const [a = 0, b = 0, c = 0, d = 0] = file.subarray(6, TAG_HEAD_BYTES);
  return TAG_HEAD_BYTES + ((a << 21) | (b << 14) | (c << 7) | d);
}

const TAG_HEAD_BYTES = 10;

/** The rate in the head of a WAV file; null: it has none, or one of data that is packed. */
function bytesOfASecond(file: Buffer): number | null {
  const isWav =
    file.length >= WAV_HEAD_BYTES &&
    file.toString("latin1", 0, 4) === "RIFF" &&
    file.toString("latin1", 12, 16) === "fmt ";
  if (!isWav || file.readUInt16LE(20) !== PLAIN_SAMPLES) return null;
  // The rate of bytes may be wrong where that of samples is right.
  const channelBytes = Math.max(1, file.readUInt16LE(34) >> 3);
  return Math.max(1, Math.min(file.readUInt32LE(28), file.readUInt32LE(24) * channelBytes));
}

const WAV_HEAD_BYTES = 44;
const PLAIN_SAMPLES = 1;

/** The head of a picture is found in its first bytes, behind a preview in some. */
const HEAD_CHARACTERS = 262_144;
const BASE64_MARK = "base64,";

/** The first bytes of an item's data; empty where it is an address, or where its base64 has escapes. */
function headOf(item: MediaItem, body: Buffer): Buffer {
  const span = originalSpan(item.source);
  const text =
    span === null ? item.source : body.toString("latin1", span.start, Math.min(span.end, span.start + HEAD_CHARACTERS));
  const data = item.modality === "audio" ? 0 : text.indexOf(BASE64_MARK) + BASE64_MARK.length;
  if (text.includes("\\") || (item.modality !== "audio" && data < BASE64_MARK.length)) return Buffer.alloc(0);
  return Buffer.from(text.slice(data), "base64");
}

function lengthOf({ source }: MediaItem): number {
  const span = originalSpan(source);
  return span === null ? source.length : span.end - span.start;
}
