/** Such as `> mail-receiver@0.0.0 app`. */
const SCRIPT = /^> \S+@\S* \S+$/;

/** A warning of npm or pnpm, which may come before those lines. */
const WARNING = /^(?:npm | )warn\b/i;

/**
 * Leaves out what a package manager prints first for a script: its name, its command, and empty lines around them.
 * Calls `print` for each other line.
 */
export function withoutScriptLines(print: (line: string) => void): (line: string) => void {
  let expects: "script" | "command" | "nothing" = "script";
  return (line) => {
    if (expects === "nothing" || WARNING.test(line)) return print(line);
    if (line.trim() === "") return;
    if (expects === "script" && SCRIPT.test(line)) {
      expects = "command";
      return;
    }
    const isCommand = expects === "command" && line.startsWith("> ");
    expects = isCommand ? "script" : "nothing";
    if (!isCommand) print(line);
  };
}
