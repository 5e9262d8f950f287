import { defineCommand } from "../frame/spec.js";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export const completion = defineCommand({
  name: "completion",
  isRare: true,
  group: "Set up",
  summary: "Prints the completion script of a shell.",
  details: "The script calls this command with the words of a line after --, to print what the last one can be.",
  arguments: {
    shell: { choices: SHELLS, summary: "bash, zsh or fish." },
    words: { optional: true, variadic: true, summary: "The words of a line; the last is being typed." },
  },
  examples: [
    ['eval "$(pigeonhole completion bash)"', "in ~/.bashrc"],
    ["pigeonhole completion fish > ~/.config/fish/completions/pigeonhole.fish", "for fish"],
  ],
});
