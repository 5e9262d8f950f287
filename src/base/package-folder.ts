import { existsSync } from "node:fs";

/** The folder of this package, which its modules find from wherever the build has put them. */
export const PACKAGE_FOLDER = findPackageFolder(new URL(".", import.meta.url));

function findPackageFolder(folder: URL): URL {
  const above = new URL("..", folder);
  return existsSync(new URL("package.json", folder)) || above.href === folder.href ? folder : findPackageFolder(above);
}
