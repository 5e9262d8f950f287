import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { runToEnd } from "../support/start-program.js";

/** What an image has, and how its program starts. */
export interface Image {
  /** The folder that stands for `/`. */
  root: string;
  cwd: string;
  env: Record<string, string>;
  healthcheck: string[];
  command: string[];
}

/**
 * Does what the Dockerfile of a project says, on this machine, as this user, and with its Node, since a test has no
 * Docker: each stage has a folder below `folder` for its root, and gets exactly what COPY names.
 */
export async function buildImage(project: string, folder: string): Promise<Image> {
  const stages = new Map<string, Image>();
  let image: Image | undefined;
  for (const line of readFileSync(join(project, "Dockerfile"), "utf8").split("\n")) {
    const [, instruction = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === "FROM") {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? "image";
      const root = join(folder, name);
      mkdirSync(root, { recursive: true });
      image = { root, cwd: root, env: {}, healthcheck: [], command: [] };
      stages.set(name, image);
    } else if (image !== undefined) {
      await follow(image, instruction, rest, (stage) => stages.get(stage)?.root ?? project);
    }
  }
  if (image === undefined) throw new Error("The Dockerfile has no FROM.");
  return image;
}

async function follow(image: Image, instruction: string, rest: string, rootOf: (stage: string) => string) {
  const inImage = (path: string): string => join(isAbsolute(path) ? image.root : image.cwd, path);
  const words = rest.split(" ");
  switch (instruction) {
    case "WORKDIR":
      image.cwd = inImage(rest);
      mkdirSync(image.cwd, { recursive: true });
      break;
    case "ENV":
      for (const [name = "", value = ""] of words.map((word) => word.split("="))) {
        image.env[name] = isAbsolute(value) ? inImage(value) : value;
      }
      break;
    case "COPY": {
      const stage = words[0]?.startsWith("--from=") === true ? words.shift()?.slice("--from=".length) : undefined;
      const to = words.pop() ?? "";
      const from = rootOf(stage ?? "");
      for (const path of words) copy({ from, path, to: inImage(to), isContext: stage === undefined });
      break;
    }
    case "RUN": {
      checkLocalPackages(image.cwd);
      const own = `${process.getuid?.()}:${process.getgid?.()}`;
      const script = rest
        .replaceAll("node:node", own)
        .replaceAll(/ (\/\w+)/g, (_, path: string) => ` ${inImage(path)}`);
      const env = { npm_config_prefer_offline: "true" };
      await runToEnd({ command: "sh", args: ["-c", script], cwd: image.cwd, env });
      break;
    }
    case "HEALTHCHECK":
      image.healthcheck = JSON.parse(rest.slice(rest.indexOf("["))) as string[];
      break;
    case "CMD":
      image.command = JSON.parse(rest) as string[];
      break;
  }
}

interface Copy {
  from: string;
  path: string;
  to: string;
  isContext: boolean;
}

/** Copies a file into a folder, and of a folder what is in it. The context has nothing of `.dockerignore`. */
function copy({ from, path, to, isContext }: Copy): void {
  const ignored = isContext ? readFileSync(join(from, ".dockerignore"), "utf8").trim().split("\n") : [];
  const filter = (source: string): boolean => !ignored.some((name) => source === join(from, name));
  const target = statSync(join(from, path)).isDirectory() ? to : join(to, basename(path));
  cpSync(join(from, path), target, { recursive: true, verbatimSymlinks: true, filter });
}

/** Docker has an empty cache; npm's own one here may have the package that `file:` names. */
function checkLocalPackages(cwd: string): void {
  const manifest = join(cwd, "package.json");
  if (!existsSync(manifest)) return;
  const { dependencies } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies: Record<string, string> };
  const missing = Object.values(dependencies).filter(
    (version) => version.startsWith("file:") && !existsSync(join(cwd, version.slice("file:".length))),
  );
  if (missing.length > 0) throw new Error(`${missing.join(", ")} is not copied before npm runs.`);
}
