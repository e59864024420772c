// Translates environments to their contract and back.

import { Environment as ProtoEnvironment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { type Environment, ENVIRONMENTS } from "../identity/principal.ts";
import { ValidationError } from "../kernel/errors.ts";

export const protoEnvironment = {
  sandbox: ProtoEnvironment.SANDBOX,
  production: ProtoEnvironment.PRODUCTION,
} as const satisfies Record<Environment, ProtoEnvironment>;

/** The environment, or null where none is specified. */
export function environmentOf(named: ProtoEnvironment): Environment | null {
  return ENVIRONMENTS.find((environment) => protoEnvironment[environment] === named) ?? null;
}

/** Errors: ValidationError where none is specified. */
export function fromProtoEnvironment(named: ProtoEnvironment): Environment {
  const environment = environmentOf(named);
  if (environment !== null) return environment;
  const message = "must be sandbox or production";
  throw new ValidationError([{ field: "environment", rule: "enum.defined_only", message }]);
}
