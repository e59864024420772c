import type { Environment as ProtoEnvironment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { UNKNOWN } from "../../../i18n/format.ts";
import { EnvironmentBadge, environmentNameOf } from "../../transfers/environments.tsx";

/** The environment of a merchant as its owner sees it. */
export function Environment({ environment }: { readonly environment: ProtoEnvironment }) {
  const name = environmentNameOf(environment);
  return name === undefined ? UNKNOWN : <EnvironmentBadge environment={name} />;
}
