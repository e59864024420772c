// StatusService: the state of the service for callers without credentials.

import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type GetStatusResponse,
  GetStatusResponseSchema,
  type StatusService,
} from "#gen/saldo/status/v1/status_service_pb.ts";
import type { Component, Incident, Status } from "./status.ts";
import { FRESH_SECONDS, type StatusBoard } from "./status-board.ts";

/** Makes the service. An answer is translated once, however many ask for it. */
export function createStatusService(board: Pick<StatusBoard, "current">): ServiceImpl<typeof StatusService> {
  const answers = new WeakMap<Status, Answer>();
  return {
    async getStatus(_request, { responseHeader }) {
      const status = await board.current();
      const answer = answers.get(status) ?? toAnswer(status);
      answers.set(status, answer);
      responseHeader.set("cache-control", `public, max-age=${FRESH_SECONDS}`);
      responseHeader.set("vary", "origin");
      responseHeader.set("etag", answer.etag);
      return answer.message;
    },
  };
}

type Answer = { readonly message: GetStatusResponse; readonly etag: string };

function toAnswer({ state, asOf, isComplete, components }: Status): Answer {
  const message = create(GetStatusResponseSchema, {
    state,
    asOf: timestampFromDate(asOf),
    complete: isComplete,
    components: components.map(toProtoComponent),
  });
  // The moment of the computation is no change.
  const digest = createHash("sha256")
    .update(JSON.stringify([state, isComplete, components]))
    .digest("base64url");
  return { message, etag: `W/"${digest.slice(0, 22)}"` };
}

function toProtoComponent({ kind, name, state, since, incidents }: Component) {
  return {
    kind,
    name,
    state,
    ...(since === null ? {} : { since: timestampFromDate(since) }),
    incidents: incidents.map(toProtoIncident),
  };
}

function toProtoIncident({ state, beganAt, endedAt }: Incident) {
  const ended = endedAt === null ? {} : { endedAt: timestampFromDate(endedAt) };
  return { state, beganAt: timestampFromDate(beganAt), ...ended };
}
