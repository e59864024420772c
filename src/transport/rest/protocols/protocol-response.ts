// Answers of protocols beside chat, as JSON or as server-sent events.

import type { ChatAnswerHead, StreamEnding, WholeAnswer } from "../../../gateway/chat.ts";
import type { ProtocolEvent } from "../../../gateway/conversation/protocol.ts";
import type { ProtocolOutput } from "../../../gateway/conversation/translated-sink.ts";
import type { AnswerResponse } from "../answer-response.ts";
import { KEEP_ALIVE } from "../chat/chat-events.ts";

export class ProtocolResponse implements ProtocolOutput {
  readonly #response: AnswerResponse;

  constructor(response: AnswerResponse) {
    this.#response = response;
  }

  answer(head: ChatAnswerHead, { body, costIdr }: { readonly body: object; readonly costIdr: string }): void {
    this.#response.whole(head, { json: Buffer.from(JSON.stringify(body)), costIdr });
  }

  passAnswer(head: ChatAnswerHead, answer: WholeAnswer): void {
    this.#response.whole(head, answer);
  }

  begin(head: ChatAnswerHead): void {
    this.#response.stream(head);
  }

  write(events: readonly ProtocolEvent[]): boolean {
    return this.#response.write(textOf(events));
  }

  pass(bytes: Buffer): boolean {
    return this.#response.write(bytes);
  }

  keepAlive(): void {
    this.#response.write(KEEP_ALIVE);
  }

  end(events: readonly ProtocolEvent[]): void {
    this.#response.end(textOf(events));
  }

  endPassed({ passed }: StreamEnding): void {
    this.#response.end(passed);
  }

  onDrained(callback: () => void): void {
    this.#response.onDrained(callback);
  }

  onGone(callback: () => void): void {
    this.#response.onGone(callback);
  }
}

/** Clients of a protocol that names its events leave out those without a name. */
function textOf(events: readonly ProtocolEvent[]): string {
  let text = "";
  for (const { name, data } of events) {
    text += `${name === null ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
  }
  return text;
}
