// A call of an agent's own tool for shell commands, whatever it is called and however it wants the command.

/** A function that an agent offers. */
export type Tool = {
  readonly function?: { readonly name: string; readonly parameters?: Schema };
};

/** A call of a tool. */
export type Call = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };

type Schema = {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

/** The tools for commands of the agents, in the order in which they are wanted. */
const SHELLS = [
  /^(functions__)?exec_command$/,
  /^(bash|shell|execute|run_shell_command|execute_command|run_commands?|terminal|run_terminal_command)$/i,
  /shell|bash|exec/i,
];
const COMMAND = /^(cmd|command|commands|script)$/;

/** A call that writes `MARK-<number>-42`, which is in no prompt; undefined where the agent offers no tool for commands. */
export function callOf(tools: readonly Tool[], number: number): Call | undefined {
  const functions = tools.flatMap((tool) => tool.function ?? []);
  const shell = SHELLS.map((form) => functions.find(({ name }) => form.test(name))).find((each) => each !== undefined);
  if (shell === undefined) return undefined;
  const properties = shell.parameters?.properties ?? {};
  // Without a substitution, which some agents refuse: 2a is 42.
  const command = `printf MARK-${number}-%d 0x2a`;
  const wanted = new Set([
    ...(shell.parameters?.required ?? []),
    Object.keys(properties).find((key) => COMMAND.test(key)),
  ]);
  const input = [...wanted].flatMap((key) => {
    if (key === undefined) return [];
    return [[key, COMMAND.test(key) ? commandFor(properties[key], command) : exampleOf(properties[key])] as const];
  });
  return { name: shell.name, input: Object.fromEntries(input) };
}

function commandFor(schema: Schema | undefined, command: string): unknown {
  return schema?.type === "array" ? (schema.properties === undefined ? [command] : [{ command }]) : command;
}

function exampleOf(schema: Schema | undefined): unknown {
  if (schema?.enum !== undefined) return schema.enum[0];
  if (schema?.type === "boolean") return false;
  if (schema?.type === "number" || schema?.type === "integer") return 10;
  return schema?.type === "array" ? [] : schema?.type === "object" ? {} : "shows a number";
}
