// The systemd unit: what systemd-analyze finds in it, and its command line with its account and variables, in a mount namespace like
// the one that the unit asks for. No systemd runs here, so it is not systemd that starts it, and its filter of system calls is not tried.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { freePorts } from "../../setup/free-ports.ts";
import { DEPLOY, ROOT, unitDirectives, unitVariables } from "../deployed.ts";
import { eventually, run, runWell } from "../engine.ts";

const UNIT = join(DEPLOY, "systemd/saldo.service");
const CREDENTIALS = "/run/credentials/saldo.service";
const SECRET = "a secret of a trial that is long enough for what it is used for";
/** The least that systemd-analyze may find: 0 is nothing exposed, 100 all. */
const MOST_EXPOSED = 15;
/** What the namespaces of the unit amount to: a read-only system, folders of its own, and no other files. */
const NAMESPACE = `
set -eu
checkout=$1 account=$2 state=$3
shift 3
mount -t tmpfs -o mode=755 tmpfs /opt
mkdir /opt/saldo
mount --bind "$checkout" /opt/saldo
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p ${CREDENTIALS}
cp "$state"/credentials/* ${CREDENTIALS}/
chown -R 10001:10001 ${CREDENTIALS}
for folder in lib cache; do
  mount -t tmpfs -o mode=755 tmpfs /var/$folder
  mkdir /var/$folder/saldo
  chown 10001:10001 /var/$folder/saldo
done
chmod 0711 /var/lib/saldo
mount --bind "$account/passwd" /etc/passwd
mount --bind "$account/group" /etc/group
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -o remount,bind,ro /opt/saldo
mount -o remount,bind,ro /
cd /opt/saldo
exec "$@"
`;

describe("the systemd unit", () => {
  const { folder } = inject("engine");
  const [state, account] = [join(folder, "unit"), join(folder, "unit/etc")];
  let service: ChildProcess | null = null;
  let url: string;
  const lines: string[] = [];

  beforeAll(async () => {
    await mkdir(join(state, "credentials"), { recursive: true });
    for (const name of ["auth-secret", "secrets-key"]) {
      await writeFile(join(state, "credentials", name), SECRET);
      await chmod(join(state, "credentials", name), 0o400);
    }
    // The account, as systemd-sysusers adds it to those that every machine has.
    await mkdir(account);
    for (const name of ["passwd", "group"]) await cp(join("/etc", name), join(account, name));
    await runWell("systemd-sysusers", [
      `--root=${state}`,
      "--inline",
      sysusersLine(await readFile(join(DEPLOY, "systemd/saldo.sysusers"), "utf8")),
    ]);
  });
  afterAll(() => {
    service?.kill("SIGKILL");
  });

  /** Runs a program as the unit would see the machine, but as root. */
  const inNamespace = (...words: readonly string[]): string[] => [
    "--mount",
    "--propagation=private",
    "sh",
    "-c",
    NAMESPACE,
    "sh",
    ROOT,
    account,
    state,
    ...words,
  ];

  it("is correct to systemd-analyze", async () => {
    const analyzed = await run(
      "unshare",
      inNamespace("systemd-analyze", "verify", "--man=no", "deploy/systemd/saldo.service"),
    );
    expect(analyzed).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("exposes little", async () => {
    const words = ["security", "--offline=true", `--threshold=${MOST_EXPOSED}`, "--no-pager", UNIT];
    const { code, stdout } = await run("systemd-analyze", words);
    process.stdout.write(`${stdout.trim().split("\n").at(-1)}\n`);
    expect(code).toBe(0);
  });

  it("has an account by systemd-sysusers that is no person's", async () => {
    expect(await readFile(join(account, "passwd"), "utf8")).toMatch(
      /^saldo:!?\*?x?:10001:10001:Saldo:\/var\/lib\/saldo:\/usr\/sbin\/nologin$/m,
    );
  });

  it("serves by its command line as its account, with the embedded PostgreSQL in its state folder", async () => {
    const [http = 0, grpc = 0, metrics = 0] = await freePorts(3);
    url = `http://127.0.0.1:${http}`;
    const ports = { SALDO_HTTP_PORT: http, SALDO_GRPC_PORT: grpc, SALDO_METRICS_PORT: metrics };
    const variables = Object.entries({ ...unitVariables(), ...ports }).map(
      ([name, value]) => `${name}=${String(value).replace("%d", CREDENTIALS)}`,
    );
    const rights = [
      "--reuid=saldo",
      "--regid=saldo",
      "--clear-groups",
      "--no-new-privs",
      "--bounding-set=-all",
      "--inh-caps=-all",
    ];
    const command = unitDirectives().get("ExecStart")?.[0]?.split(" ") ?? [];
    service = spawn(
      "unshare",
      inNamespace("env", "--ignore-environment", ...variables, "/usr/bin/setpriv", ...rights, ...command),
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    for (const stream of [service.stdout, service.stderr])
      stream?.on("data", (chunk: Buffer) => void lines.push(String(chunk)));
    await eventually("the service is ready", async () => {
      if (service?.exitCode !== null) throw new Error(`it ended with ${String(service?.exitCode)}\n${lines.join("")}`);
      return (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
    });
    const status = await readFile(`/proc/${service.pid}/status`, "utf8");
    expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
    expect(status).toMatch(/^Cap(?:Eff|Prm|Bnd):\t0{16}$/m);
    expect(lines.join("")).toContain("/var/lib/saldo/operator-link");
    expect((await fetch(`${url}/`)).status).toBe(200);
  });

  it("ends with 0 on SIGTERM to its main process, and PostgreSQL with it", async () => {
    if (service === null) throw new Error("nothing was started");
    const members = await run("pgrep", ["--uid", "10001"]);
    expect(members.stdout.trim().split("\n").length).toBeGreaterThan(1);
    const ended = once(service, "exit");
    service.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect((await run("pgrep", ["--uid", "10001"])).stdout).toBe("");
  });
});

function sysusersLine(text: string): string {
  return text.split("\n").find((line) => line.startsWith("u ")) ?? "";
}
