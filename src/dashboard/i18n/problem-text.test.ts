import { describe, expect, it } from "vitest";
import { problemText } from "./problem-text.ts";

describe("problemText", () => {
  it.each([
    ["must be an address of the public internet", "harus alamat di internet publik"],
    ["must be an address that begins with https://", "harus alamat yang dimulai dengan https://"],
    [
      "must be a text of at most 200 characters, letters, digits and . _ : - / as in acme/large",
      "harus teks maksimal 200 karakter (letters, digits and . _ : - / as in acme/large)",
    ],
    [
      "must be YAML: Flow sequence in block collection at line 3, column 5",
      "bukan YAML yang sah: Flow sequence in block collection at line 3, column 5",
    ],
    ["must be a whole number from 1 to 4294967295", "harus bilangan bulat dari 1 sampai 4294967295"],
    ["must be one of text, image", "harus salah satu dari text, image"],
    ["must be at most 1000000000", "maksimal 1000000000"],
    [
      "must be approved by another operator than the one who gave the command",
      "harus disetujui operator lain, bukan yang memerintahkan",
    ],
    ["names a command that was refused; a further one needs a name of its own", "sudah diputuskan"],
  ])("translates %j to %j", (message, indonesian) => {
    expect(problemText(message, "id")).toBe(indonesian);
    expect(problemText(message, "en")).toBe(message);
  });

  it("returns an unknown message unchanged", () => {
    expect(problemText("must $1 be a moon", "id")).toBe("must $1 be a moon");
  });
});
