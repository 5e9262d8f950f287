import { PACKAGE_MANAGER_NAMES } from "../../scaffold/project/package-manager.js";
import { TEMPLATE_NAMES } from "../../scaffold/project/templates.js";
import { eventsOption } from "../add/spec.js";
import { defineCommand, withValue } from "../frame/spec.js";

const options = {
  template: withValue("name", "What the project is built with.", { short: "t", choices: TEMPLATE_NAMES }),
  minimal: { summary: "Writes at most ten files, on Express and SQLite, without a container." },
  events: eventsOption,
  pm: withValue("name", "Package manager. Default: the one that started this command.", {
    choices: PACKAGE_MANAGER_NAMES,
  }),
  install: { paired: true, summary: "Installs the packages." },
  git: { paired: true, summary: "Makes a git repository." },
  docker: { paired: true, summary: "Adds a Dockerfile and compose.yaml." },
  nodePackage: {
    paired: true,
    summary:
      "Adds the npm package node, so that the project's scripts run on Node 24. Default: where this Node is older. Not possible with yarn.",
  },
  overwrite: {
    summary: "Writes into a folder that is not empty: files of the same name are replaced, .env and others stay.",
  },
  dryRun: { summary: "Lists the files and writes nothing." },
} as const;

export const init = defineCommand({
  name: "init",
  group: "Set up",
  summary: "Makes a project that receives webhooks, tested and ready to run.",
  details:
    "Asks for folder, template and events where they are not given, in a terminal. Without a terminal, or with --json, it asks nothing: an error names what is missing, and --yes uses the defaults. Needs the network only to install.",
  arguments: { dir: { optional: true, summary: "The new project's folder." } },
  options: {
    ...options,
    pigeonholeVersion: withValue(
      "spec",
      "Version of pigeonhole in the project's package.json, such as file:../pigeonhole.tgz. Default: this version, or the tarball that this one was installed from.",
    ),
  },
  examples: [
    ["npx pigeonhole init", "asks, in a terminal"],
    ["npx pigeonhole init mail-receiver --yes", "takes all defaults"],
    ["npx pigeonhole init mail-receiver --minimal --yes", "the least that receives"],
    ["npx pigeonhole init mail -t hono -e email.*,form.submitted --no-docker --yes", "says what it wants"],
  ],
});
