// Routes of protocols beside chat: the same refusals in the same order, and answers in their own protocol.

import type { IncomingMessage } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { answerConversation } from "../../../gateway/conversation/answer-conversation.ts";
import type { ClientProtocol } from "../../../gateway/conversation/protocol.ts";
import type { Principal } from "../../../identity/principal.ts";
import { authenticate, type Verifiers, type Wanted } from "../../calls/authenticate.ts";
import { callersOf } from "../../calls/authorise.ts";
import { type Credentials, readCredentials, readSingle } from "../../calls/call.ts";
import type { HeaderLines } from "../../http/answer-headers.ts";
import type { ModelRoute } from "../model-request.ts";
import { ProtocolResponse } from "./protocol-response.ts";

export type ProtocolRouteFacts = {
  readonly method: DescMethod;
  readonly protocol: ClientProtocol;
  /** A header in which clients may send their key, beside Authorization. Null: none. */
  readonly keyHeader: string | null;
  /** Headers of each answer and error beside the common ones. */
  readonly headersOf: (requestId: string) => HeaderLines;
};

export function protocolRoute({ method, protocol, keyHeader, headersOf }: ProtocolRouteFacts): ModelRoute {
  const wanted = { environment: null, callers: callersOf(method) };
  return {
    method,
    authenticate: (verifiers, raw) => authenticateClient({ verifiers, wanted, keyHeader }, raw),
    headersOf,
    answer: ({ gateway, keys }, call, response) =>
      answerConversation({ gateway, keys, protocol }, call, new ProtocolResponse(response)),
  };
}

type ClientFacts = {
  readonly verifiers: Verifiers;
  readonly wanted: Wanted;
  readonly keyHeader: string | null;
};

/**
 * Finds the caller by either header. Claude Code sends both where both are set, and only one of them may be a key of ours: the
 * Authorization header is tried first. Errors: those of `authenticate`.
 */
async function authenticateClient(
  { verifiers, wanted, keyHeader }: ClientFacts,
  raw: IncomingMessage,
): Promise<Principal> {
  const credentials = readCredentials(raw.rawHeaders, raw);
  const byHeader = keyHeader === null ? null : inKeyHeader(raw, credentials, keyHeader);
  if (byHeader === null) return authenticate(verifiers, credentials, wanted);
  if (credentials.authorization !== null) {
    // Two credentials of one request count once. A network that is refused gets no look-up by the one that is not counted.
    const { refusedCredentials, ...uncounted } = verifiers;
    refusedCredentials?.refuseUnknown(credentials.source, "key", byHeader.secret);
    const principal = await authenticate(uncounted, credentials, wanted);
    if (principal.kind !== "public") return principal;
  }
  return authenticate(verifiers, byHeader.credentials, wanted);
}

/** The credentials in the header, as if they were in Authorization. Null: there are none. */
function inKeyHeader(
  { rawHeaders }: IncomingMessage,
  credentials: Credentials,
  header: string,
): { readonly secret: string; readonly credentials: Credentials } | null {
  const { value, count } = readSingle(rawHeaders, header);
  if (count === 0) return null;
  // Of several none may be read, and they count as unknown.
  const secret = value ?? "";
  return { secret, credentials: { ...credentials, authorization: secret === "" ? "" : `Bearer ${secret}` } };
}
