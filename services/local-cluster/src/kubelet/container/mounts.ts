import { posix } from "node:path";
import { type JsonObject, listAt, textAt } from "../../object/model.js";

/** A volume mounted in a container. */
export interface Mount {
  readonly volume: string;
  /** Absolute and normalized. */
  readonly path: string;
  readonly subPath: string;
}

export function mountsOf(container: JsonObject): readonly Mount[] {
  return listAt(container, "volumeMounts").map((mount) => ({
    volume: textAt(mount, "name") ?? "",
    path: absolutePath(textAt(mount, "mountPath") ?? "/"),
    subPath: absolutePath(textAt(mount, "subPath") ?? "").slice(1),
  }));
}

/**
 * Normalizes to an absolute path without `..`, so that the path stays below any directory to which
 * it is appended.
 */
export const absolutePath = (path: string) => posix.normalize(`/${path}`).replace(/(.)\/$/, "$1");

const isBelow = (path: string, folder: string) => path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);

/** Working directory of container images, into which flytekit unpacks code by default. */
const IMAGE_HOME = "/root";

/** Default working directory of a container. */
export const workDir = (root: string) => posix.join(root, "work");

/**
 * Matches the default working directory of any pod's container, relative to the directory of all
 * pods (`podDir`).
 */
const WORK_DIR_PATTERN = /^[^/]+\/root\/[^/]+\/work$/;

/**
 * True for `/root`, the images' home, and for the default working directory of any container: a
 * dynamic task passes its own to its tasks in their arguments.
 */
function isImageHome(path: string, root: string): boolean {
  return path === IMAGE_HOME || WORK_DIR_PATTERN.test(posix.relative(posix.join(root, "../../.."), path));
}

/**
 * Translates a path. Processes share the machine's files, so a volume cannot be mounted at its
 * path; it is linked there below `root`, and the path becomes that of the link. `ancestors` also
 * translates parent directories of mounts (FLYTE_SECRETS_DEFAULT_DIR=/etc/flyte/secrets above a
 * mount per group). The images' home becomes the container's working directory, so that containers
 * unpack code separately and never into the machine's own.
 */
export function translatePath(
  text: string,
  { mounts, root, ancestors }: { mounts: readonly Mount[]; root: string; ancestors: boolean },
): string {
  if (!text.startsWith("/")) return text;
  const path = absolutePath(text);
  if (isImageHome(path, root)) return workDir(root);
  const known = mounts.some((mount) => isBelow(path, mount.path) || (ancestors && path !== "/" && isBelow(mount.path, path)));
  return known ? posix.join(root, path) : text;
}

/** Usual characters of file names. */
const NAME = String.raw`[\w.~-]`;

/**
 * Translates all mount paths in an argument: the whole argument, or parts of a script for a shell
 * or another interpreter. Keeps longer paths (`/data2` beside `/data`) and paths within others.
 */
export function translateArgument(word: string, { mounts, root }: { mounts: readonly Mount[]; root: string }): string {
  const whole = translatePath(word, { mounts, root, ancestors: false });
  if (whole !== word) return whole;
  const paths = mounts.map(({ path }) => path).filter((path) => path !== "/");
  if (!paths.some((path) => word.includes(path))) return word;
  const any = paths
    .toSorted((a, b) => b.length - a.length)
    .map((path) => path.replace(/[\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join("|");
  return word.replace(new RegExp(`(?<!${NAME}|/)(?:${any})(?!${NAME})`, "g"), (path) => posix.join(root, path));
}
