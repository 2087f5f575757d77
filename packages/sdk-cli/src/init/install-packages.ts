import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ProjectError } from "../project/project-error.js";

/**
 * Installs the packages of a project's package.json, unless all are there. The package manager is
 * the one that started this command; else npm.
 *
 * @throws ProjectError when the installation fails
 */
export function installPackages(folder: string): void {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly dependencies?: object;
    readonly devDependencies?: object;
  };
  if (Object.keys({ ...dependencies, ...devDependencies }).every((name) => isInstalled(folder, name))) return;
  const [manager = "npm"] = /^(?:pnpm|yarn|bun)(?=\/)/.exec(process.env["npm_config_user_agent"] ?? "") ?? [];
  const { status, error } = spawnSync(manager, ["install"], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  const reason = error === undefined ? `ended with status ${status}` : error.message;
  throw new ProjectError(`the files are written, but ${manager} install failed (${reason}); run it again in ${folder}`);
}

/** True when a package is found from a folder, as Node.js looks for it. */
function isInstalled(start: string, name: string): boolean {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "node_modules", name, "package.json"))) return true;
    if (dirname(folder) === folder) return false;
  }
}
