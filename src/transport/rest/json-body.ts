// JSON bodies as bytes: chat passes them on, and the other routes parse them with the numbers' source text. The headers of a body
// are checked here, after its caller is known and before its bytes are read.

import type { IncomingMessage } from "node:http";
import { UnsupportedMediaType } from "../../kernel/errors.ts";
import type { BodyRules } from "../http/body-budget.ts";
import type { BodyIntake } from "../http/body-intake.ts";

const JSON_TYPE = /^application\/json[ \t]*(;|$)/i;

/** Receives a JSON body; null where the request has none. Errors: UnsupportedMediaType, and those of BodyIntake. */
export function receiveJson(intake: BodyIntake, request: IncomingMessage, rules: BodyRules): Promise<Buffer | null> {
  const { "content-type": type, "content-length": length = "0", "transfer-encoding": coding } = request.headers;
  if (type === undefined && coding === undefined && length === "0") return Promise.resolve(null);
  if (!isReadable(request)) return Promise.reject(new UnsupportedMediaType());
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  intake.read(request, rules, (error, body) => (error === null ? resolve(body) : reject(error)));
  return promise;
}

/** Whether a body is JSON in UTF-8, and not compressed. */
export function isReadable({ headers }: IncomingMessage): boolean {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  return JSON_TYPE.test(type) && encoding === "identity" && isUtf8(type);
}

/** JSON between systems is UTF-8, also without a charset. */
function isUtf8(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}
