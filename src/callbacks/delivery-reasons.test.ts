import { describe, expect, test } from "vitest";
import { checkCallbackUrl } from "./callback-url.ts";
import { END_TEXTS, endOf, problemOf, problemTexts } from "./delivery-reasons.ts";

describe("the reason of a delivery that was given up", () => {
  test("is read from its sentence", () => {
    for (const [end, text] of Object.entries(END_TEXTS)) expect(endOf(text)).toBe(end);
  });

  test("is unknown for any other sentence", () => {
    for (const text of ["", "given up after 3 days.", "Given up after 4 days.", "Callbacks were turned off. "])
      expect(endOf(text)).toBeNull();
  });

  // Rows of versions before this one have these: a sentence that is changed here has to stay readable.
  test("is read from what earlier versions have written", () => {
    expect(
      [
        "Given up after 3 days.",
        "A later status was delivered.",
        "Callbacks were turned off.",
        "Nothing was delivered for 7 days, so callbacks were stopped.",
      ].map(endOf),
    ).toEqual(["triedForDays", "laterDelivered", "turnedOff", "stopped"]);
  });
});

describe("the reason of an attempt that failed", () => {
  // An answer is a stranger's: it may look like another sentence of ours.
  const answers = [
    "",
    "no",
    ': "',
    ' without {"message":"OK"}: "x"',
    ' with more than is read instead of {"message":"OK"}: ',
    "did not answer in time",
    "could not be reached: ECONNREFUSED",
    "\u0000\n\ud800",
    "answered 500: ",
  ];

  test.each(answers)("is read from the sentence, whatever was answered: %j", (start) => {
    const detail = JSON.stringify(start);
    for (const problem of ["statusRefused", "notAccepted", "answerTooLong"] as const)
      expect(problemOf(problemTexts[problem](500, start))).toEqual({ problem, detail });
  });

  test("is read from the sentences without an answer", () => {
    for (const problem of ["timedOut", "processStopped", "privateAddress"] as const)
      expect(problemOf(problemTexts[problem])).toEqual({ problem, detail: "" });
    expect(problemOf(problemTexts.unreachable("ECONNREFUSED"))).toEqual({
      problem: "unreachable",
      detail: "ECONNREFUSED",
    });
    expect(problemOf(problemTexts.unreachable(undefined))).toEqual({ problem: "unreachable", detail: "" });
  });

  test.each([
    ["shop.example.com", "url.form"],
    ["https://user@shop.example.com/", "url.credentials"],
    ["https://shop.example.com/#part", "url.fragment"],
    ["http://shop.example.com/", "url.https"],
    ["https://shop.example.com:22/", "url.port"],
    ["https://10.0.0.1/", "url.private"],
    ["https://shop.example.com/", "url.host"],
  ])("is the broken rule of an address that is not allowed any more: %s", (url, detail) => {
    const rules = { environment: "production", allowLoopback: false, hosts: ["other.example.com"] } as const;
    let text = "";
    try {
      checkCallbackUrl(url, rules);
    } catch (error) {
      text = (error as Error).message;
    }
    expect(problemOf(text)).toEqual({ problem: "addressNotAllowed", detail });
  });

  test("is read from what earlier versions have written", () => {
    expect(
      [
        'answered 503: "busy"',
        'answered 200 without {"message":"OK"}: "{}"',
        'answered 200 with more than is read instead of {"message":"OK"}: "a"',
        "did not answer in time",
        "was broken off because this process stops",
        "the name leads to an address that is not of the public internet",
        "could not be reached: ENOTFOUND",
        "could not be reached: the connection failed",
        "The request is not valid. url must begin with https:// in production.",
      ].map(problemOf),
    ).toEqual([
      { problem: "statusRefused", detail: '"busy"' },
      { problem: "notAccepted", detail: '"{}"' },
      { problem: "answerTooLong", detail: '"a"' },
      { problem: "timedOut", detail: "" },
      { problem: "processStopped", detail: "" },
      { problem: "privateAddress", detail: "" },
      { problem: "unreachable", detail: "ENOTFOUND" },
      { problem: "unreachable", detail: "" },
      { problem: "addressNotAllowed", detail: "url.https" },
    ]);
  });

  test("is unknown for any other sentence, which is left as it is", () => {
    for (const text of ["", "answered", "answered 20: x", "fell asleep", "The request is not valid."])
      expect(problemOf(text)).toEqual({ problem: null, detail: "" });
  });
});
