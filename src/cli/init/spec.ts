import { PACKAGE_MANAGER_NAMES } from "../../scaffold/project/package-manager.js";
import { TEMPLATE_NAMES } from "../../scaffold/project/templates.js";
import { eventsOption } from "../add/spec.js";
import { defineCommand, withValue } from "../frame/spec.js";

const options = {
  template: withValue("name", "The template that the project is made from.", { short: "t", choices: TEMPLATE_NAMES }),
  minimal: { summary: "Writes at most ten files, on Express and SQLite, without a container." },
  events: eventsOption,
  pm: withValue("name", "Package manager. Default: the one that started this command.", {
    choices: PACKAGE_MANAGER_NAMES,
  }),
  install: { negated: true, summary: "Installs no packages." },
  git: { negated: true, summary: "Makes no git repository." },
  docker: { negated: true, summary: "Adds no Dockerfile and no compose.yaml." },
  nodePackage: {
    negated: true,
    summary:
      "Leaves out the npm package node, with which the project's scripts run on Node 24 where this Node is older. It is not added with yarn.",
  },
  overwrite: {
    summary: "Writes into a folder that is not empty: files of the same name are replaced, .env and others stay.",
  },
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
