import type { Place } from "./places.js";

/** A script for bash, without other programs. */
export function bashScript(places: readonly Place[]): string {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => caseOf(path));
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
      ${paths.join(" | ")}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
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
