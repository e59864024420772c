// What was found wrong with answers, by this process and by those it has started.

import { watchAnswers } from "./watch.ts";

let problems: string[] = [];
let isWatching = false;

/** Notes what another process has found. */
export function noteProblem(problem: string): void {
  problems.push(problem);
}

/** Watches the servers of this process, from the first call on. */
export function watchThisProcess(): void {
  if (!isWatching) watchAnswers(noteProblem);
  isWatching = true;
}

/** What was found since the last call. */
export function takeProblems(): string[] {
  const taken = problems;
  problems = [];
  return taken;
}
