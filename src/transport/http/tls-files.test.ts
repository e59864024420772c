import { copyFile, mkdtemp, rm, symlink } from "node:fs/promises";
import { createServer, type Server, type TlsOptions } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renewCertificate, type TlsFiles, tlsOptions } from "./tls-files.ts";

const LOOK_AGAIN_MS = 1_000;
const CERTIFICATES = new URL("../../../test/setup/certificates/", import.meta.url);
const pemOf = (name: string): string => fileURLToPath(new URL(`${name}.pem`, CERTIFICATES));

let folder: string;
let files: TlsFiles;
let server: Server;
let used: TlsOptions[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-tls-"));
  files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  await write("localhost");
  server = createServer(tlsOptions(files));
  used = [];
  vi.spyOn(server, "setSecureContext").mockImplementation((options) => void used.push(options));
  vi.useFakeTimers();
});
afterEach(async () => {
  server.emit("close");
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

async function write(name: string): Promise<void> {
  await copyFile(pemOf(`${name}-cert`), files.certFile);
  await copyFile(pemOf(`${name}-key`), files.keyFile);
}

it("keeps the former certificate while the files cannot be looked at, and uses the new one afterwards", async () => {
  renewCertificate(server, files, LOOK_AGAIN_MS);
  vi.advanceTimersByTime(LOOK_AGAIN_MS);
  const before = used.length;
  await rm(files.certFile);
  await symlink(files.certFile, files.certFile);
  expect(() => vi.advanceTimersByTime(LOOK_AGAIN_MS)).not.toThrow();
  expect(used).toHaveLength(before);
  await rm(files.certFile);
  await write("rsa");
  vi.advanceTimersByTime(LOOK_AGAIN_MS);
  expect(used).toHaveLength(before + 1);
});

it("uses a certificate that was renewed before the first look", async () => {
  await write("rsa");
  renewCertificate(server, files, LOOK_AGAIN_MS);
  vi.advanceTimersByTime(LOOK_AGAIN_MS);
  expect(used).toHaveLength(1);
});
