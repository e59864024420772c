// Requests that name rows of another account, made from the contracts: a new method is tried with no further word here.

import { create, type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { AccountRole, type Caller, callers as callersOption } from "#gen/saldo/options/v1/options_pb.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { services } from "../../src/transport/calls/services.ts";

export const ADDRESS = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
const ID = /^id$|Id$/;

/** What one account has: the ids of its rows by the names that requests have for them. */
export type Rows = Readonly<Record<string, string>>;

const methods: DescMethod[] = Object.values(services).flatMap((service) => [...service.methods]);

/** Methods that one of these may call, and whose request names a row by its id. */
export function methodsNamingRows(...callers: readonly Caller[]): DescMethod[] {
  return methods.filter((method) => {
    const takes = getOption(method, callersOption);
    // The merchant's own name for a transfer is no id of ours, and is distinguished by merchant.
    const names = method.input.fields.some(({ localName }) => ID.test(localName) && localName !== "externalId");
    return callers.some((caller) => takes.includes(caller)) && names;
  });
}

/** A request about rows of another account, with something in every other field that one might need. */
export function requestAbout(input: DescMessage, rows: Rows) {
  const request: Record<string, unknown> = {};
  for (const { localName } of input.fields) {
    if (ID.test(localName)) request[localName] = rows[localName] ?? uuidv7();
    else if (localName === "address") request[localName] = ADDRESS;
    else if (localName === "currencyCode") request[localName] = "TRX";
    else if (localName === "amount") request[localName] = "1";
    else if (localName === "name") request[localName] = "theirs";
    else if (localName === "role") request[localName] = AccountRole.VIEWER;
  }
  return create(input, request);
}
