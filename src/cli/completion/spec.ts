import { defineCommand } from "../frame/spec.js";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export const completion = defineCommand({
  name: "completion",
  isRare: true,
  group: "Set up",
  summary: "Prints the completion script of a shell.",
  arguments: { shell: { choices: SHELLS, summary: "bash, zsh or fish." } },
  examples: [
    ['eval "$(pigeonhole completion bash)"', "in ~/.bashrc"],
    ["pigeonhole completion fish > ~/.config/fish/completions/pigeonhole.fish", "for fish"],
  ],
});
