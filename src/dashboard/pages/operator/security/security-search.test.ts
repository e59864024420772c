import { expect, it } from "vitest";
import { filterOf } from "./security-search.ts";

const PERSON = "0198c0de-0000-7000-8000-00000000abcd";
const NOTHING = { personId: "", email: "", accountId: "", kind: "", outcome: "", withoutOperatorReads: true };

it("asks for everything where the address says nothing", () => {
  expect(filterOf({})).toEqual(NOTHING);
});

it("takes an id of a person and an e-mail address in the same field", () => {
  expect(filterOf({ person: ` ${PERSON.toUpperCase()} ` })).toEqual({ ...NOTHING, personId: PERSON });
  expect(filterOf({ person: " Siti@Saldo.example " })).toEqual({ ...NOTHING, email: "siti@saldo.example" });
});

it("leaves out an event and an outcome that do not exist", () => {
  expect(filterOf({ kind: "sign_in", outcome: "refused" })).toEqual({
    ...NOTHING,
    kind: "sign_in",
    outcome: "refused",
  });
  expect(filterOf({ kind: "constructor", outcome: "zzz" })).toEqual(NOTHING);
});

it("hands an account's id on in lower case", () => {
  expect(filterOf({ account: PERSON.toUpperCase() })).toEqual({ ...NOTHING, accountId: PERSON });
});

it("leaves out what operators read, unless it is asked for", () => {
  expect(filterOf({ reads: "yes" })).toEqual({ ...NOTHING, withoutOperatorReads: false });
});
