// Whether the subjects of commits have the form `room: imperative`.
import { git, root } from "./commands.mjs";
import { wordProblems } from "./plain-words.mjs";

/** Commits behind this one are checked. A subject that cannot be changed any more moves it. */
const LAST_UNCHECKED = "2de5e79c0bc5035c95d641e1ed0da4591db50e85";
const MAX_LENGTH = 72;
/** Rooms, or the folders of other work: `ledger: …`, `gateway, billing: …`, `merchant/payouts: …`. */
const FORM = /^\.?[a-z][a-z0-9/-]*(?:, \.?[a-z][a-z0-9/-]*)*: (\S.*)$/;
/** Verbs in other forms than the imperative: "adds", "added", "adding". */
const OTHER_FORM = /(?:[^s]s|ed|ing)$/;
const IMPERATIVES = ["bring", "embed", "exceed", "feed", "focus", "need", "proceed", "seed", "shed", "speed", "string"];

/** Whether the subjects since the named commit keep the rules. In a clone without this commit none is checked. */
export function checkCommits({ folder = root, since = LAST_UNCHECKED } = {}) {
  const isKnown = git(["merge-base", "--is-ancestor", since, "HEAD"], { cwd: folder }).ok;
  if (!isKnown) return { problems: [], note: `no history since ${since.slice(0, 12)}` };
  const range = `${since}..HEAD`;
  const { ok, stdout, output } = git(["log", "--no-merges", "--format=%h %s", range], { cwd: folder });
  if (!ok) return { problems: [output] };
  const lines = stdout.split("\n").filter((line) => line !== "");
  const problems = lines.flatMap((line) => {
    const subject = line.slice(line.indexOf(" ") + 1);
    return subjectProblems(subject).map((problem) => `${line}: ${problem}`);
  });
  return { problems, note: `commits: ${lines.length}` };
}

/** The problems of a subject. */
export function subjectProblems(subject) {
  const found = [];
  if (subject.length > MAX_LENGTH) found.push(`has ${subject.length} characters; ${MAX_LENGTH} are allowed`);
  const [, text] = FORM.exec(subject) ?? [];
  if (text === undefined) return [...found, "has not the form `room: imperative`"];
  const [verb] = text.split(/[^\w-]/, 1);
  if (!/^[a-z]/.test(text)) found.push("begins with a capital letter behind the room");
  else if (OTHER_FORM.test(verb) && !IMPERATIVES.includes(verb)) found.push(`begins with "${verb}", no imperative`);
  if (text.endsWith(".")) found.push("ends with a full stop");
  return [...found, ...wordProblems(text)];
}
