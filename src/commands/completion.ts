// Completion of the command line by bash, zsh and fish: commands, options and values, from the table that the help is made of.
// The scripts hold everything, so that a shell starts no process for it.

import { type Command, UsageError } from "./command.ts";
import type { CommandOption, CommandUsage } from "./help.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** What follows an option or a command: words to choose from, a path, or something that only the user knows. */
type Offer = { readonly words: readonly string[] } | "file" | "folder" | "unknown";

const EVERYWHERE = { json: { required: false, value: null, about: "prints one JSON object" } };

/** The command that prints a script. `usages` gives every command, itself among them. */
export function completionCommand(usages: () => readonly CommandUsage[]): Command {
  return {
    name: "completion",
    about: "Prints a script that makes a shell complete commands, options and values.",
    options: {},
    positionals: ["SHELL"],
    choices: SHELLS,
    run({ positionals: [name = ""] }) {
      const shell = SHELLS.find((each) => each === name);
      if (shell === undefined) throw new UsageError(`saldo completion: the shell must be ${SHELLS.join(" or ")}`);
      const script = completionScript(shell, usages());
      return Promise.resolve({ json: { shell, script }, text: script.trimEnd() });
    },
  };
}

/** The script of a shell. */
export function completionScript(shell: Shell, usages: readonly CommandUsage[]): string {
  // A longer name first: `backup verify` is not `backup`.
  const sorted = usages.toSorted(
    (one, other) => other.name.length - one.name.length || (one.name < other.name ? -1 : 1),
  );
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](sorted);
}

function optionsOf({ options }: CommandUsage): readonly (readonly [string, CommandOption])[] {
  return Object.entries({ ...options, ...EVERYWHERE });
}

function offerOfOption({ value, choices }: CommandOption): Offer | null {
  if (value === null) return null;
  return choices === undefined ? offerOf(value) : { words: choices };
}

function offerOfWord({ positionals = [], choices }: CommandUsage): Offer | null {
  const [first] = positionals;
  if (first === undefined) return null;
  return choices === undefined ? offerOf(first) : { words: choices };
}

function offerOf(placeholder: string): Offer {
  return placeholder === "FILE" ? "file" : placeholder === "DIR" ? "folder" : "unknown";
}

/** A text in single quotes, which all three shells take as it is. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "").replaceAll("'", "’")}'`;
}

/** The lines of a `case` that prints something for each command. */
function cases(usages: readonly CommandUsage[], linesOf: (usage: CommandUsage) => readonly string[]): string {
  return usages.flatMap(linesOf).join("\n");
}

const OFFER_WORDS = { file: "@file", folder: "@folder", unknown: "@unknown" } as const;

function wordsOfOffer(offer: Offer): string {
  return typeof offer === "string" ? OFFER_WORDS[offer] : offer.words.join(" ");
}

/** What bash and zsh share: which command a line calls, and what follows an option or a command. */
function sharedFunctions(usages: readonly CommandUsage[]): string {
  return `_saldo_command() {
  case "$1" in
${cases(usages, ({ name }) => [`    ${quoted(`${name} `)}*) echo ${quoted(name)} ;;`])}
  esac
}
_saldo_offer() {
  case "$1" in
${cases(usages, (usage) => [
  ...optionsOf(usage).flatMap(([option, each]) => {
    const offer = offerOfOption(each);
    return offer === null ? [] : [`    ${quoted(`${usage.name} --${option}`)}) echo ${quoted(wordsOfOffer(offer))} ;;`];
  }),
  ...[offerOfWord(usage)].flatMap((offer) =>
    offer === null ? [] : [`    ${quoted(usage.name)}) echo ${quoted(wordsOfOffer(offer))} ;;`],
  ),
])}
  esac
}`;
}

function bashScript(usages: readonly CommandUsage[]): string {
  return `# Completion of saldo for bash: eval "$(saldo completion bash)"
${sharedFunctions(usages)}
_saldo_options() {
  case "$1" in
${cases(usages, (usage) => [
  `    ${quoted(usage.name)}) echo ${quoted(
    optionsOf(usage)
      .map(([option]) => `--${option}`)
      .join(" "),
  )} ;;`,
])}
  esac
}
_saldo() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" line command offer name rest words="" help=""
  # bash takes the = of --option=value for a word of its own.
  if [[ $word == "=" ]]; then word=""
  elif [[ $before == "=" ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  line="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  [[ -n $line ]] && line+=" "
  COMPREPLY=()
  # Behind help there are the names of commands, and none of their options.
  if [[ $line == "help "* ]]; then
    help=1 line="\${line#help }"
    [[ $word == -* ]] && words="$(_saldo_options help)"
  else
    command="$(_saldo_command "$line")"
    [[ -n $command ]] && offer="$(_saldo_offer "$command $before")"
  fi
  if [[ -z $offer ]]; then
    while read -r name; do
      [[ "$name " == "$line"* ]] || continue
      [[ -n $help && $name == -* ]] && continue
      rest="\${name:\${#line}}"
      [[ -n $rest ]] && words+=" \${rest%% *}"
    done <<'NAMES'
${usages.map(({ name }) => name).join("\n")}
NAMES
    if [[ -n $command ]]; then
      [[ $word == -* ]] && words="$(_saldo_options "$command")" || offer="$(_saldo_offer "$command")"
      [[ -z $offer && -z $words ]] && words="$(_saldo_options "$command")"
    fi
  fi
  case "$offer" in
    @file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")) ;;
    @folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")) ;;
    @unknown) ;;
    *) words+=" $offer" ;;
  esac
  [[ -n $words ]] && COMPREPLY+=($(compgen -W "$words" -- "$word"))
  return 0
}
complete -F _saldo saldo
`;
}

/** An option with its meaning, as zsh's `_describe` takes it. */
function described(name: string, about: string): string {
  return quoted(`${name}:${about}`);
}

function zshScript(usages: readonly CommandUsage[]): string {
  return `#compdef saldo
# Completion of saldo for zsh: eval "$(saldo completion zsh)", behind compinit
${sharedFunctions(usages)}
_saldo() {
  local line="\${(j: :)words[2,CURRENT-1]}" command offer name rest
  local -a names options
  [[ -n $line ]] && line+=" "
  command="$(_saldo_command "$line")"
  if [[ $command == help ]]; then line="\${line#help }"
  elif [[ -n $command ]]; then offer="$(_saldo_offer "$command \${words[CURRENT-1]}")"
  fi
  if [[ -z $offer && \${words[CURRENT]} != -* ]]; then
    for name in ${usages.map(({ name }) => quoted(name)).join(" ")}; do
      [[ "$name " == "$line"* ]] || continue
      [[ $command == help && $name == -* ]] && continue
      rest="\${name[\${#line}+1,-1]}"
      [[ -n $rest ]] && names+=("\${rest%% *}")
    done
    [[ -n $names ]] && compadd -- \${(u)names}
    [[ -n $command ]] && offer="$(_saldo_offer "$command")"
  fi
  case "$offer" in
    @file) _files; return ;;
    @folder) _files -/; return ;;
    @unknown) return ;;
    ?*) compadd -- \${=offer}; return ;;
  esac
  case "$command" in
${cases(usages, (usage) => [
  `    ${quoted(usage.name)}) options=(${optionsOf(usage)
    .map(([option, { about }]) => described(`--${option}`, about))
    .join(" ")}) ;;`,
])}
  esac
  [[ -n $options ]] && _describe -o 'option' options
}
if [[ "$funcstack[1]" == _saldo ]]; then _saldo "$@"; else compdef _saldo saldo; fi
`;
}

function fishScript(usages: readonly CommandUsage[]): string {
  const lines = usages.flatMap((usage) => {
    const is = `-n ${quoted(`test (__saldo_command) = "${usage.name}"`)}`;
    const word = offerOfWord(usage);
    return [
      ...optionsOf(usage).map(
        ([option, each]) =>
          `complete -c saldo ${is} -l ${option} ${fishOffer(offerOfOption(each))} -d ${quoted(each.about)}`,
      ),
      ...(word === null || word === "unknown" ? [] : [`complete -c saldo ${is} ${fishWord(word)}`]),
    ];
  });
  return `# Completion of saldo for fish: saldo completion fish | source
function __saldo_line
    set -l words (commandline -opc)
    string join ' ' -- $words[2..-1]
end
function __saldo_command
    set -l line (__saldo_line)' '
    for name in ${usages.map(({ name }) => quoted(name)).join(" ")}
        if string match -q -- "$name *" $line
            echo $name
            return
        end
    end
    echo ''
end
function __saldo_words
    set -l line (__saldo_line)
    test -n "$line"; and set line "$line "
    # Behind help there are the names of commands.
    set line (string replace -r '^help ' '' -- $line)
    for name in ${usages.map(({ name }) => quoted(name)).join(" ")}
        set -l rest (string replace -- "$line" '' "$name ")
        if test "$line$rest" = "$name "
            string split -f1 ' ' -- $rest
        end
    end
end
complete -c saldo -f -a '(__saldo_words)'
${lines.join("\n")}
`;
}

function fishOffer(offer: Offer | null): string {
  if (offer === null) return "";
  if (typeof offer !== "string") return `-x -a ${quoted(offer.words.join(" "))}`;
  return { file: "-r -F", folder: `-x -a '(__fish_complete_directories)'`, unknown: "-x" }[offer];
}

function fishWord(offer: Exclude<Offer, "unknown">): string {
  if (typeof offer !== "string") return `-a ${quoted(offer.words.join(" "))}`;
  return offer === "file" ? "-F" : `-a '(__fish_complete_directories)'`;
}
