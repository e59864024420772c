import { isEnvironmentName } from "../../transfers/environment-names.ts";
import { EnvironmentBadge } from "../../transfers/environments.tsx";

/** The environment of a merchant as its owner sees it; one that only a newer server knows, by its own name. */
export function Environment({ name }: { readonly name: string }) {
  return isEnvironmentName(name) ? <EnvironmentBadge environment={name} /> : name;
}
