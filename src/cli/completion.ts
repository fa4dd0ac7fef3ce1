/** `sliceplane completion SHELL`: scripts that complete commands and flags, made from the program's own words. */
import type { Command } from "commander";

interface Word {
	readonly name: string;
	readonly description: string;
}

interface Completed {
	readonly command: Word;
	/** Long flags with their dashes. */
	readonly flags: readonly Word[];
}

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Completed[]) => string>> = {
	bash: bashScript,
	zsh: zshScript,
	fish: fishScript,
};

export function addCompletionCommand(root: Command): void {
	root
		.command("completion")
		.description("Print a script that completes commands and flags in your shell.")
		.argument("<shell>", SHELLS.join(", "))
		.addHelpText(
			"after",
			"\nExamples:\n  $ sliceplane completion bash > ~/.local/share/bash-completion/completions/sliceplane\n",
		)
		.action((shell: string, _flags: unknown, command: Command) => {
			const known = SHELLS.find((name) => name === shell);
			if (known === undefined) command.error(`error: completion ${shell}: want ${SHELLS.join(", ")}`);
			else process.stdout.write(SCRIPTS[known](completedCommands(root)));
		});
}

function completedCommands(root: Command): readonly Completed[] {
	const visible = root.createHelp().visibleCommands(root);
	return visible.map((command) => ({
		command: { name: command.name(), description: command.description().split("\n")[0] ?? "" },
		flags: command
			.createHelp()
			.visibleOptions(command)
			.map((option) => ({ name: option.long ?? option.short ?? "", description: option.description })),
	}));
}

function bashScript(commands: readonly Completed[]): string {
	const names = commands.map(({ command }) => command.name).join(" ");
	const cases = commands.map(({ command, flags }) => {
		const words = flags.map(({ name }) => name).join(" ");
		return `    ${command.name}) COMPREPLY=($(compgen -W "${words}" -f -- "$word")) ;;`;
	});
	return `_sliceplane() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" = 1 ]; then COMPREPLY=($(compgen -W "${names}" -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
}
complete -o default -F _sliceplane sliceplane
`;
}

function zshScript(commands: readonly Completed[]): string {
	const described = ({ name, description }: Word): string => `'${name}:${quoted(description).replaceAll(":", "\\:")}'`;
	const cases = commands.map(({ command, flags }) => {
		const words = flags.map(({ name, description }) => `'${name}[${quoted(description).replace(/[[\]]/g, "\\$&")}]'`);
		return `    ${command.name}) _arguments ${words.join(" ")} '*:file:_files' ;;`;
	});
	return `#compdef sliceplane
_sliceplane() {
  local -a commands
  commands=(${commands.map(({ command }) => described(command)).join(" ")})
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "\${words[2]}" in
${cases.join("\n")}
  esac
}
compdef _sliceplane sliceplane
`;
}

function fishScript(commands: readonly Completed[]): string {
	const lines = commands.flatMap(({ command, flags }) => [
		`complete -c sliceplane -n __fish_use_subcommand -a ${command.name} -d '${quoted(command.description)}'`,
		...flags.map(
			({ name, description }) =>
				`complete -c sliceplane -n '__fish_seen_subcommand_from ${command.name}' -l ${name.replace(/^-+/, "")} -d '${quoted(description)}'`,
		),
	]);
	return `${lines.join("\n")}\n`;
}

/** Within single quotes of a shell. */
function quoted(text: string): string {
	return text.replaceAll("'", "");
}
