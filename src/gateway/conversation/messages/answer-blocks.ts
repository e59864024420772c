// The content of an answer as blocks. The protocol has one open block at a time; upstreams may write several calls at once, and
// text beside them.

import type { AnswerEvent } from "../answer-events.ts";
import type { Opaque } from "../conversation.ts";
import { opaqueText } from "../opaque-text.ts";

/** A piece of a block: its text, or the input of a call. */
export type Piece =
  | { readonly kind: "text"; readonly text: string }
  /** `signature`: what ends the thought. */
  | { readonly kind: "thinking"; readonly text: string; signature?: string }
  | {
      readonly kind: "tool_use";
      readonly call: number;
      readonly id: string;
      readonly name: string;
      readonly text: string;
    };

/** A block with all of its text so far. */
export type Block = Piece & { text: string };

/** Reads events into pieces of blocks: `finish` and `usage` are none. A call without input is a piece without text. */
export class PieceReader {
  readonly #calls = new Map<number, { readonly id: string; readonly name: string }>();

  read(event: AnswerEvent): Piece[] {
    switch (event.kind) {
      case "text":
      case "refusal":
        return [{ kind: "text", text: event.text }];
      case "reasoning":
        return [{ kind: "thinking", text: event.text }];
      case "call": {
        const { call, id, name, opaque } = event;
        this.#calls.set(call, { id, name });
        const begun: Piece = { kind: "tool_use", call, id, name, text: "" };
        // A call has no place for it here: the thought in front of it does.
        return opaque === undefined ? [begun] : [signed(opaque), begun];
      }
      case "input": {
        const begun = this.#calls.get(event.call);
        return begun === undefined ? [] : [{ kind: "tool_use", call: event.call, ...begun, text: event.text }];
      }
      case "opaque":
        return [signed(event)];
      case "finish":
      case "usage":
        break;
    }
    return [];
  }
}

function signed(opaque: Opaque): Piece {
  return { kind: "thinking", text: "", signature: opaqueText(opaque) };
}

/** Whether a piece goes on with a block. */
export function continues(block: Piece, piece: Piece): boolean {
  if (block.kind === "tool_use" && piece.kind === "tool_use") return block.call === piece.call;
  // A signed thought has ended.
  return block.kind === piece.kind && !(block.kind === "thinking" && block.signature !== undefined);
}

/** Adds a piece: to the block of its call, to the last block of its kind, or as a block of its own. */
export function addPiece(blocks: Block[], piece: Piece): void {
  const last = piece.kind === "tool_use" ? blocks.find((block) => continues(block, piece)) : blocks.at(-1);
  if (last === undefined || !continues(last, piece)) {
    blocks.push({ ...piece });
    return;
  }
  last.text += piece.text;
  sign(last, piece);
}

/** Takes over the signature of a thought that a piece ends. */
export function sign(block: Piece, piece: Piece): void {
  if (block.kind !== "thinking" || piece.kind !== "thinking") return;
  if (piece.signature !== undefined) block.signature = piece.signature;
}
