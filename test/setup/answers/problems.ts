// What was found wrong with answers, by this process and by those it has started.

import { watchAnswers } from "./watch.ts";

let problems: string[] = [];
let allowed: RegExp[] = [];
let isWatching = false;

/** Notes what another process has found. */
export function noteProblem(problem: string): void {
  if (!allowed.some((form) => form.test(problem))) problems.push(problem);
}

/** Watches the servers of this process, from the first call on. */
export function watchThisProcess(): void {
  if (!isWatching) watchAnswers(noteProblem);
  isWatching = true;
}

/** For the rest of a test file, these are no problems: what the service answers there is made up by the test. */
export function allowProblems(form: RegExp): void {
  allowed.push(form);
}

/** Ends what a test file has allowed. */
export function allowNoProblems(): void {
  allowed = [];
}

/** What was found since the last call. */
export function takeProblems(): string[] {
  const taken = problems;
  problems = [];
  return taken;
}
