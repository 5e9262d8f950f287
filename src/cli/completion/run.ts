import { API_RESOURCES, CALL_NAMES } from "../../contract/contract.js";
import type { RunCommand } from "../frame/context.js";
import type { CommandSpec } from "../frame/spec.js";
import { completeWords, type OfferedWord } from "./complete-words.js";
import type { completion } from "./spec.js";

/** Prints a script, or what the last of the words can be, made from the same data as help. */
// oxlint-disable-next-line require-await -- a throw must become a rejection
export const run: RunCommand<typeof completion> = async ({ args, context }) => {
  const { shell, words } = args;
  const { script, line } = SHELL_PARTS[shell];
  if (words.length === 0) return context.out.raw(script);
  const offered = completeWords(words, context.commands.map(withCalls), context.families);
  // fish replaces the whole word.
  const [flag = ""] = (shell === "fish" && /^--[^=]+=/.exec(words.at(-1) ?? "")) || [];
  context.out.raw(offered.map(({ text, summary }) => `${line({ text: flag + text, summary })}\n`).join(""));
};

/** The command `api` with the names of calls and resources. Only completion loads the contract for them. */
function withCalls(spec: CommandSpec): CommandSpec {
  if (spec.name !== "api") return spec;
  const call = { summary: "", suggestions: [...CALL_NAMES, ...API_RESOURCES] };
  return { ...spec, arguments: { ...spec.arguments, call } };
}

const BASH = `# bash completion of pigeonhole. Put it where bash looks, or: eval "$(pigeonhole completion bash)"
_pigeonhole() {
  local IFS=$'\\n'
  COMPREPLY=($(pigeonhole completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _pigeonhole pigeonhole
`;

const ZSH = `#compdef pigeonhole
# zsh completion of pigeonhole: put it into a folder of fpath as _pigeonhole, or: eval "$(pigeonhole completion zsh)"
_pigeonhole() {
  local -a offered
  offered=(\${(f)"$(pigeonhole completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  # --flag=value is one word.
  [[ "\${words[CURRENT]}" == --*=* ]] && compset -P '*='
  (( $#offered )) && _describe pigeonhole offered || _files
}
if [[ "$funcstack[1]" == _pigeonhole ]]; then
  _pigeonhole "$@"
elif (( $+functions[compdef] )); then
  compdef _pigeonhole pigeonhole
else
  print -u2 "pigeonhole: for its completion, run this first: autoload -Uz compinit && compinit"
fi
`;

const FISH = `# fish completion of pigeonhole: pigeonhole completion fish | source
function __pigeonhole
  set -l offered (pigeonhole completion fish -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if set -q offered[1]
    printf '%s\\n' $offered
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c pigeonhole -f -a '(__pigeonhole)'
`;

/** The script of each shell, and how it reads a word and what it means. */
const SHELL_PARTS: Record<"bash" | "zsh" | "fish", { script: string; line: (word: OfferedWord) => string }> = {
  bash: { script: BASH, line: ({ text }) => text },
  zsh: {
    script: ZSH,
    // A colon in the word would end it.
    line: ({ text, summary }) => `${text.replaceAll(":", "\\:")}${summary === "" ? "" : `:${summary}`}`,
  },
  fish: { script: FISH, line: ({ text, summary }) => `${text}\t${summary}` },
};
