import { completionPlaces, type Place, type Word } from "./places.js";
import type { RunCommand } from "../frame/context.js";
import type { CommandSpec } from "../frame/spec.js";
import { API_RESOURCES, CALL_NAMES } from "../../contract/contract.js";
import type { completion } from "./spec.js";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Made from the same data as help, so that it is always up to date. */
// oxlint-disable-next-line require-await
export const run: RunCommand<typeof completion> = async ({ args, context }) => {
  const places = completionPlaces(context.commands.map(withCalls), context.families);
  context.out.raw(SCRIPTS[args.shell](places));
};

/** The command `api` with the names of calls and resources. Only completion loads the contract for them. */
function withCalls(spec: CommandSpec): CommandSpec {
  if (spec.name !== "api") return spec;
  const call = { summary: "", ...spec.arguments?.["call"], suggestions: [...CALL_NAMES, ...API_RESOURCES] };
  return { ...spec, arguments: { ...spec.arguments, call } };
}

const pathsOf = (places: readonly Place[]): string[] => places.map(({ path }) => path).filter((path) => path !== "");

/** A script for bash, without other programs. */
function bashScript(places: readonly Place[]): string {
  const values = places.flatMap(({ path, values }) =>
    [...values].map(([flag, words]) =>
      words.length === 0
        ? `    "${path} ${flag}") return ;;` // Files: complete -o default.
        : `    "${path} ${flag}") COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$cur")); return ;;`,
    ),
  );
  const words = places.map(({ path, words }) => `    "${path}") words="${words.map(({ text }) => text).join(" ")}" ;;`);
  return `# bash completion of pigeonhole. Put it where bash looks, or: eval "$(pigeonhole completion bash)"
_pigeonhole() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${pathsOf(places).map(caseOf).join(" | ")}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  # --flag=value comes as three words.
  if [ "$cur" = "=" ]; then cur=""; elif [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  case "$at $before" in
${values.join("\n")}
  esac
  case "$at" in
${words.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _pigeonhole pigeonhole
`;
}

/** `captures list` is matched as "captures list", a first word as " dev". */
function caseOf(path: string): string {
  return path.includes(" ") ? `"${path}"` : `" ${path}"`;
}

/** A script for zsh: put it into a folder of fpath as _pigeonhole, or evaluate it. */
function zshScript(places: readonly Place[]): string {
  const values = places.flatMap(({ path, values }) =>
    [...values].map(
      ([flag, words]) =>
        `    ("${path} ${flag}") ${words.length === 0 ? "_files" : `compadd -- ${words.join(" ")}`}; return ;;`,
    ),
  );
  const words = places.map(({ path, words }) => `    ("${path}") offered=(${words.map(describe).join(" ")}) ;;`);
  // Do not use the name "path" in zsh: it is tied to PATH.
  return `#compdef pigeonhole
# zsh completion of pigeonhole: eval "$(pigeonhole completion zsh)"
_pigeonhole() {
  local at="" before="\${words[CURRENT-1]}" i
  local -a offered
  for (( i = 2; i < CURRENT; i++ )); do
    case "$at \${words[i]}" in
      (${pathsOf(places).map(caseOf).join("|")}) at="\${at:+$at }\${words[i]}" ;;
    esac
  done
  # --flag=value is one word.
  if [[ "\${words[CURRENT]}" == --*=* ]]; then
    before="\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
  case "$at $before" in
${values.join("\n")}
  esac
  case "$at" in
${words.join("\n")}
  esac
  _describe pigeonhole offered || _files
}
if [[ "$funcstack[1]" == _pigeonhole ]]; then
  _pigeonhole "$@"
elif (( $+functions[compdef] )); then
  compdef _pigeonhole pigeonhole
else
  print -u2 "pigeonhole: for its completion, run this first: autoload -Uz compinit && compinit"
fi
`;
}

/** `word:what it means` in single quotes; a colon in the word would end it. */
function describe({ text, summary }: Word): string {
  const entry = summary === "" ? text.replaceAll(":", "\\:") : `${text.replaceAll(":", "\\:")}:${summary}`;
  return `'${entry.replaceAll("'", "'\\''")}'`;
}

/** A script for fish. */
function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, values, takesFiles }) => {
    const when = `complete -c pigeonhole -n "__pigeonhole_at '${path}'"`;
    const offers = words.map(({ text, summary }) => {
      const note = summary === "" ? "" : ` -d '${summary.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
      if (!text.startsWith("--")) return `${when} -a '${text}'${note}`;
      const offered = values.get(text);
      const value = offered === undefined ? "" : offered.length === 0 ? " -r -F" : ` -x -a '${offered.join(" ")}'`;
      return `${when} -l '${text.slice(2)}'${value}${note}`;
    });
    return takesFiles ? [`${when} -F`, ...offers] : offers;
  });
  return `# fish completion of pigeonhole: pigeonhole completion fish | source
function __pigeonhole_at
  set -l at ''
  for word in (commandline -opc)[2..]
    set -l next (string trim "$at $word")
    if contains -- "$next" ${pathsOf(places)
      .map((path) => `'${path}'`)
      .join(" ")}
      set at "$next"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c pigeonhole -f
${lines.join("\n")}
`;
}
