// `npm run dev`: Saldo's demo and, beside it, the dashboard with hot reload. Words behind `--` go to Vite.
import { spawn } from "node:child_process";
import process from "node:process";
import { root } from "./commands.mjs";

const start = (program, args) =>
  spawn(program, args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
const children = [
  start("node", ["src/main.js", "serve"]),
  start("vite", ["--config", "src/dashboard/vite.config.ts", ...process.argv.slice(2)]),
];

// One without the other is of no use; each is ended by its own pid.
const end = () => children.forEach((child) => child.exitCode ?? child.kill("SIGTERM"));
for (const child of children) child.once("exit", end);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
