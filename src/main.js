#!/usr/bin/env node
// The entry. Everything else is loaded behind the switch that keeps modules compiled between starts: types are stripped and
// code is compiled once, not at every start, and what strips them, which is large, is not even loaded. For that this one file
// has to be plain JavaScript. Where the folder cannot be written, all goes on without.

import { enableCompileCache } from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";

// Beside the packages, which are made again as easily.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)));
const { runProcess } = await import("./app/process/process.ts");

process.exitCode = await runProcess(process.argv.slice(2));
// All is done and closed. A forgotten handle must not keep the process.
setTimeout(() => process.exit(), 1_000).unref();
