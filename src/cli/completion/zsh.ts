import type { Place, Word } from "./places.js";

/** A script for zsh: put it into a folder of fpath as _pigeonhole, or evaluate it. */
export function zshScript(places: readonly Place[]): string {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => caseOf(path));
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
      (${paths.join("|")}) at="\${at:+$at }\${words[i]}" ;;
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

function caseOf(path: string): string {
  return path.includes(" ") ? `"${path}"` : `" ${path}"`;
}

/** `word:what it means` in single quotes; a colon in the word would end it. */
function describe({ text, summary }: Word): string {
  const entry = summary === "" ? text.replaceAll(":", "\\:") : `${text.replaceAll(":", "\\:")}:${summary}`;
  return `'${entry.replaceAll("'", "'\\''")}'`;
}
