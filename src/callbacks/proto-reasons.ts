import { AttemptProblem, DeliveryEnd } from "#gen/saldo/callbacks/v1/delivery_pb.ts";
import { type AttemptProblem as Problem, type DeliveryEnd as End, endOf, problemOf } from "./delivery-reasons.ts";

const protoEnd = {
  triedForDays: DeliveryEnd.TRIED_FOR_DAYS,
  laterDelivered: DeliveryEnd.LATER_DELIVERED,
  turnedOff: DeliveryEnd.TURNED_OFF,
  stopped: DeliveryEnd.STOPPED,
} as const satisfies Record<End, DeliveryEnd>;

const protoProblem = {
  statusRefused: AttemptProblem.STATUS_REFUSED,
  notAccepted: AttemptProblem.NOT_ACCEPTED,
  answerTooLong: AttemptProblem.ANSWER_TOO_LONG,
  timedOut: AttemptProblem.TIMED_OUT,
  processStopped: AttemptProblem.PROCESS_STOPPED,
  privateAddress: AttemptProblem.PRIVATE_ADDRESS,
  unreachable: AttemptProblem.UNREACHABLE,
  addressNotAllowed: AttemptProblem.ADDRESS_NOT_ALLOWED,
} as const satisfies Record<Problem, AttemptProblem>;

/** Why a delivery was given up. Null: it was not. */
export function toProtoEnd(note: string | null): DeliveryEnd {
  const end = note === null ? null : endOf(note);
  return end === null ? DeliveryEnd.UNSPECIFIED : protoEnd[end];
}

/** Why an attempt failed. Null: it did not. */
export function toProtoProblem(text: string | null): { problemCode: AttemptProblem; problemDetail: string } {
  const { problem, detail } = text === null ? { problem: null, detail: "" } : problemOf(text);
  return {
    problemCode: problem === null ? AttemptProblem.UNSPECIFIED : protoProblem[problem],
    problemDetail: detail,
  };
}
