import type { Place } from "./places.js";

/** A script for fish. */
export function fishScript(places: readonly Place[]): string {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => `'${path}'`);
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
    if contains -- "$next" ${paths.join(" ")}
      set at "$next"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c pigeonhole -f
${lines.join("\n")}
`;
}
