import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { packPublishedPackages } from "../plugins/packed-packages.fixture.js";
import { root } from "../repository.js";

/** Packages of registries that a project needs; those of this repository's installation serve. */
const FROM_REGISTRY = ["@bufbuild/protobuf", "@standard-schema/spec", "rolldown", "typescript", "@types/node"];

/** Archives of the SDK's packages, and of the packages that a project needs beside them. */
export interface PublishedSdk {
  readonly folder: string;
  /** Archives of the SDK's packages by name. */
  readonly own: Readonly<Record<string, string>>;
  readonly others: readonly string[];
  remove(): void;
}

/** Packs the SDK as it is published, so that `npm install` needs no registry. */
export function packSdk(): PublishedSdk {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-published-"));
  const { archives } = packPublishedPackages(folder, ["sdk", "sdk-runtime", "sdk-cli"]);
  const own = Object.fromEntries(
    readdirSync(archives).map((file) => [`@flyte-ts/${/^flyte-ts-([a-z]+)-/.exec(file)?.[1]}`, join(archives, file)]),
  );
  const others = join(folder, "others");
  mkdirSync(others);
  const installed = FROM_REGISTRY.flatMap((name) => installedWith(join(root, "node_modules", name)));
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", others, ...new Set(installed)], { stdio: "ignore" });
  return {
    folder,
    own,
    others: readdirSync(others).map((file) => join(others, file)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Lists an installed package and those that it needs, as far as they fit this machine. */
function installedWith(folder: string): string[] {
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly dependencies?: object;
    readonly optionalDependencies?: object;
  };
  const needed = Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const found = [join(folder, "node_modules", name), join(root, "node_modules", name)].find((place) => existsSync(place));
    return found === undefined ? [] : installedWith(found);
  });
  return [folder, ...needed];
}

/** Arguments with which npm installs archives alone. */
export const INSTALL_OFFLINE = ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"] as const;

export interface CommandEnd {
  readonly status: number | null;
  readonly text: string;
}

/**
 * Runs a command of a shell in a folder.
 *
 * @param node program of Node.js that `node` and `npx` start
 */
export function shell(
  folder: string,
  command: string,
  { node = process.execPath, env = {} }: { readonly node?: string; readonly env?: NodeJS.ProcessEnv } = {},
): CommandEnd {
  const path = [dirname(node), process.env["PATH"]].join(delimiter);
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", ...env, PATH: path },
  });
  return { status, text: `${stdout}${stderr}` };
}
