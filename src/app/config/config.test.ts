import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "./config.ts";

describe("the configuration", () => {
  it("has a working default for everything", () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: "127.0.0.1",
      httpPort: 3000,
      grpcPort: 3001,
      metricsPort: 9464,
      workers: 1,
      demo: true,
    });
    expect(config.dataDir).toMatch(/^\/.*\.saldo$/);
  });

  it("asks for a second operator in production above sums that can be set, and elsewhere only where they are set", () => {
    const above = (value: string, more = {}) =>
      readConfig({ SALDO_SECOND_PERSON_ABOVE: value, ...more }).secondPerson?.above;
    const production = { NODE_ENV: "production", SALDO_AUTH_SECRET: "x".repeat(32) };
    expect([above(""), above("none"), above("none", production)]).toEqual([undefined, undefined, undefined]);
    expect(above("", production)).toMatchObject({ IDR: "5000000", USDT: "5000" });
    expect(above("IDR=100, ETH=0.5")).toMatchObject({ IDR: "100", ETH: "0.5", USDT: "5000" });
    for (const wrong of ["IDR", "IDR=-1", "5000", "idr=5"])
      expect(() => above(wrong)).toThrow("SALDO_SECOND_PERSON_ABOVE");
  });

  it("takes an empty variable as not set", () => {
    expect(readConfig({ SALDO_HTTP_PORT: "", DATABASE_URL: " " })).toMatchObject({ httpPort: 3000, databaseUrl: null });
  });

  it("has no demo in production unless it is asked for", () => {
    expect(readConfig({ NODE_ENV: "production" }).demo).toBe(false);
    expect(readConfig({ NODE_ENV: "production", SALDO_DEMO: "1" }).demo).toBe(true);
    expect(readConfig({ SALDO_DEMO: "0" }).demo).toBe(false);
  });

  it("looks passwords up among breached ones only where it is set, and by https or on this machine", () => {
    const urlOf = (value: string) => readConfig({ SALDO_BREACHED_PASSWORDS_URL: value }).breachedPasswordsUrl;
    expect([readConfig({}).breachedPasswordsUrl, urlOf("")]).toEqual([null, null]);
    expect(urlOf("https://api.pwnedpasswords.com/range/")).toBe("https://api.pwnedpasswords.com/range");
    expect(urlOf("http://127.0.0.1:8080/range")).toBe("http://127.0.0.1:8080/range");
    for (const wrong of ["http://breaches.example/range", "ftp://breaches.example", "on"])
      expect(() => urlOf(wrong)).toThrow("SALDO_BREACHED_PASSWORDS_URL");
  });

  it("has this machine called back only in a demo with the setting", () => {
    const asked = { SALDO_CALLBACKS_TO_LOOPBACK: "1" };
    expect([readConfig({}), readConfig(asked)].map((config) => config.callbacksToLoopback)).toEqual([false, true]);
    for (const elsewhere of [{ NODE_ENV: "production" }, { SALDO_DEMO: "0" }]) {
      expect(() => readConfig({ ...asked, ...elsewhere })).toThrow(/SALDO_CALLBACKS_TO_LOOPBACK.*only in a demo/);
    }
  });

  it("has commits wait for the receiver of the log only where there is one, and serves nothing without it", () => {
    const backup = { SALDO_BACKUP_DIR: "/backups", SALDO_BACKUP_KEY: "k".repeat(32) };
    const waiting = readConfig({ ...backup, SALDO_BACKUP_SYNCHRONOUS: "1" });
    expect(waiting).toMatchObject({ backupSynchronous: true, requireSyncStandby: true });
    expect(readConfig(backup)).toMatchObject({ backupSynchronous: false, requireSyncStandby: false });
    expect(() => readConfig({ SALDO_BACKUP_SYNCHRONOUS: "1" })).toThrow(
      /SALDO_BACKUP_SYNCHRONOUS needs SALDO_BACKUP_DIR/,
    );
  });

  it("reads from a standby only beside its primary, and from one", () => {
    const primary = { DATABASE_URL: "postgres://u@one/x" };
    const readUrlOf = (url: string) => readConfig({ ...primary, DATABASE_READ_URL: url }).databaseReadUrl;
    expect([readConfig(primary).databaseReadUrl, readUrlOf("postgres://u@two/x")]).toEqual([
      null,
      "postgres://u@two/x",
    ]);
    expect(() => readConfig({ DATABASE_READ_URL: "postgres://u@two/x" })).toThrow(
      /DATABASE_READ_URL needs DATABASE_URL/,
    );
    expect(() => readUrlOf("postgres://u@two,three/x")).toThrow(/DATABASE_READ_URL must name one server/);
  });

  it.each([
    ["SALDO_READ_LAG_SECONDS", "4", /SALDO_READ_LAG_SECONDS.*5 to 3600/],
    ["SALDO_HTTP_PORT", "http", /SALDO_HTTP_PORT.*"http".*0 to 65535/],
    ["SALDO_HTTP_PORT", "65536", /SALDO_HTTP_PORT/],
    ["SALDO_GRPC_PORT", "-1", /SALDO_GRPC_PORT/],
    ["SALDO_WORKERS", "0", /SALDO_WORKERS.*1 to 16/],
    ["SALDO_LOG_LEVEL", "loud", /SALDO_LOG_LEVEL.*fatal, error/],
    ["SALDO_DEMO", "yes", /SALDO_DEMO.*0, 1/],
    ["SALDO_FAILPOINT", "nowhere", /SALDO_FAILPOINT.*before-hold-commit.*:n/],
    ["SALDO_PUBLIC_URL", "example.com", /SALDO_PUBLIC_URL/],
  ])("refuses %s=%s and names what is accepted", (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(message);
  });

  it("sells play money in a demo, and in production only what a provider is set up for", () => {
    const production = { NODE_ENV: "production" };
    expect(readConfig({}).payments).toMatchObject({ chosen: "sandbox", midtrans: null, xendit: null });
    expect(readConfig(production).payments).toMatchObject({ chosen: null, sandbox: false });
    expect(() => readConfig({ ...production, SALDO_PAYMENT_PROVIDER: "sandbox" })).toThrow(/play money/);
    expect(readConfig({ ...production, SALDO_DEMO: "1" }).payments.chosen).toBe("sandbox");
    const noDemo = { SALDO_DEMO: "0" };
    expect(readConfig(noDemo).payments).toMatchObject({ chosen: null, sandbox: false });
    const chosen = readConfig({ ...noDemo, SALDO_PAYMENT_PROVIDER: "sandbox" }).payments;
    expect(chosen).toMatchObject({ chosen: "sandbox", sandbox: true });
    const real = { ...noDemo, SALDO_PAYMENT_PROVIDER: "midtrans", MIDTRANS_SERVER_KEY: "key" };
    expect(readConfig(real).payments).toMatchObject({ chosen: "midtrans", sandbox: false });
    expect(() => readConfig({ SALDO_PAYMENT_PROVIDER: "midtrans" })).toThrow(/MIDTRANS_SERVER_KEY/);
    expect(() => readConfig({ SALDO_PAYMENT_PROVIDER: "paypal" })).toThrow(/sandbox, midtrans, xendit/);
    const midtrans = { SALDO_PAYMENT_PROVIDER: "midtrans", MIDTRANS_SERVER_KEY: "key" };
    expect(readConfig({ ...production, ...midtrans }).payments).toMatchObject({ chosen: "midtrans", sandbox: false });
    expect(() => readConfig({ ...midtrans, MIDTRANS_API_URL: "http://pay.example" })).toThrow(/https:/);
    const local = { ...midtrans, MIDTRANS_API_URL: "http://127.0.0.1:9/core/" };
    expect(readConfig(local).payments.midtrans?.apiUrl).toBe("http://127.0.0.1:9/core");
  });

  it("does not show a database password in its refusal", () => {
    expect(() => readConfig({ DATABASE_URL: "mysql://u:hunter2@db/x" })).toThrow(/DATABASE_URL must be/);
    expect(() => readConfig({ DATABASE_URL: "mysql://u:hunter2@db/x" })).not.toThrow(/hunter2/);
  });
});
