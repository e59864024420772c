import { expect, it } from "vitest";
import { SecurityEventKind, SecurityOutcome } from "#gen/saldo/accounts/v1/person_pb.ts";
import { filterOf } from "./security-search.ts";

const PERSON = "0198c0de-0000-7000-8000-00000000abcd";
const NOTHING = {
  personId: "",
  email: "",
  accountId: "",
  kind: SecurityEventKind.UNSPECIFIED,
  outcome: SecurityOutcome.UNSPECIFIED,
  withoutOperatorReads: true,
};

it("returns every event for an empty address", () => {
  expect(filterOf({})).toEqual(NOTHING);
});

it("takes an id of a person and an e-mail address in the same field", () => {
  expect(filterOf({ person: ` ${PERSON.toUpperCase()} ` })).toEqual({ ...NOTHING, personId: PERSON });
  expect(filterOf({ person: " Siti@Saldo.example " })).toEqual({ ...NOTHING, email: "siti@saldo.example" });
});

it("omits an unknown event and an unknown outcome", () => {
  expect(filterOf({ kind: "sign_in", outcome: "refused" })).toEqual({
    ...NOTHING,
    kind: SecurityEventKind.SIGN_IN,
    outcome: SecurityOutcome.REFUSED,
  });
  expect(filterOf({ kind: "constructor", outcome: "zzz" })).toEqual(NOTHING);
});

it("converts an account's id to lower case", () => {
  expect(filterOf({ account: PERSON.toUpperCase() })).toEqual({ ...NOTHING, accountId: PERSON });
});

it("omits the reads of operators unless the address asks for them", () => {
  expect(filterOf({ reads: "yes" })).toEqual({ ...NOTHING, withoutOperatorReads: false });
});
