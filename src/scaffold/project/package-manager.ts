/** The commands of a package manager. */
interface PackageManager {
  /** Installs what package.json names. */
  readonly install: string;
  /** Prefix of a script's name. */
  readonly run: string;
  /** Between a script's name and its arguments. */
  readonly args: string;
  /** Prefix of an installed program. */
  readonly exec: string;
  /** Lines of the Dockerfile that install, with the files they need. */
  readonly dockerInstall: string;
  /** After the build in the Dockerfile: removes from the image what only a build needs. */
  readonly dockerPrune: string;
  /** Installs where only npm is available, as in a workflow. */
  readonly ciInstall: string;
  /**
   * Whether scripts run on the Node of the npm package `node`. Yarn puts the Node that it runs on before all others.
   */
  readonly runsNodePackage: boolean;
}

export const PACKAGE_MANAGERS = {
  npm: {
    install: "npm install",
    ciInstall: "npm ci",
    run: "npm run",
    args: " --",
    exec: "npx",
    dockerInstall: "COPY package.json package-lock.json ./\nRUN npm ci",
    dockerPrune: " && npm prune --omit=dev",
    runsNodePackage: true,
  },
  pnpm: {
    install: "pnpm install",
    ciInstall: "npm install --global pnpm@10 && pnpm install",
    run: "pnpm run",
    args: "",
    exec: "pnpm exec",
    dockerInstall:
      "RUN npm install --global pnpm@10\nCOPY package.json pnpm-workspace.yaml pnpm-lock.yaml* ./\nRUN pnpm install",
    dockerPrune: "",
    runsNodePackage: true,
  },
  yarn: {
    install: "yarn install",
    ciInstall: "yarn install",
    run: "yarn run",
    args: "",
    exec: "yarn",
    dockerInstall: "COPY package.json .yarnrc.yml yarn.lock* ./\nRUN yarn install",
    dockerPrune: "",
    runsNodePackage: false,
  },
  bun: {
    install: "bun install",
    ciInstall: "npm install --global bun@1 && bun install",
    run: "bun run",
    args: "",
    exec: "bunx",
    dockerInstall: "RUN npm install --global bun@1\nCOPY package.json bun.lock* ./\nRUN bun install",
    dockerPrune: "",
    runsNodePackage: true,
  },
} as const satisfies Record<string, PackageManager>;

export type PackageManagerName = keyof typeof PACKAGE_MANAGERS;

export const PACKAGE_MANAGER_NAMES = Object.keys(PACKAGE_MANAGERS) as PackageManagerName[];

/**
 * The package manager that runs this process, from the variable `npm_config_user_agent` (`pnpm/10.1.0 npm/? node/…`);
 * npm if it is not set.
 */
export function detectPackageManager(userAgent: string | undefined): PackageManagerName {
  const name = userAgent?.split("/")[0];
  return PACKAGE_MANAGER_NAMES.find((known) => known === name) ?? "npm";
}
