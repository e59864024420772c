// Answers that are a file: the route's answer is a field of bytes, and the message has the file's media type and its name.

import { ScalarType, type Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { invariant } from "../../kernel/invariant.ts";
import type { HttpRoute } from "./http-rules.ts";

/** A file that is the whole answer. */
export type AnsweredFile = { readonly content: Uint8Array; readonly mediaType: string; readonly fileName: string };

/** Names that need no quoting in a header. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Whether a route answers with a file. */
export function answersFile({ responseField }: Pick<HttpRoute, "responseField">): boolean {
  return responseField?.fieldKind === "scalar" && responseField.scalar === ScalarType.BYTES;
}

/** The file of an answer. Null: the route answers with JSON. */
export function readFile(route: HttpRoute, message: Message): AnsweredFile | null {
  if (!answersFile(route)) return null;
  const values = reflect(route.method.output, message);
  const [content, mediaType, fileName] = ["content", "media_type", "file_name"].map((name) => {
    const field = route.method.output.fields.find((each) => each.name === name);
    invariant(field !== undefined, "the message of a file has its content, its media type and its name");
    return values.get(field);
  });
  invariant(content instanceof Uint8Array, "the content of a file is bytes");
  invariant(typeof mediaType === "string" && mediaType !== "", "a file has a media type");
  invariant(typeof fileName === "string" && PLAIN_NAME.test(fileName), "the name of a file is plain");
  return { content, mediaType, fileName };
}
