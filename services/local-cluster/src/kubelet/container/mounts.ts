import { posix } from "node:path";
import { type JsonObject, listAt, textAt } from "../../object/model.js";

/** A volume's place inside a container. */
export interface Mount {
  readonly volume: string;
  /** Absolute, normalised. */
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

/** An absolute path that cannot lead out of the folder it is put under. */
export const absolutePath = (path: string) => posix.normalize(`/${path}`).replace(/(.)\/$/, "$1");

const isBelow = (path: string, folder: string) => path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);

/** Where container images keep the program and start it; flytekit unpacks code here unless it is told otherwise. */
const IMAGE_HOME = "/root";

/** Where a container starts that names no folder of its own. */
export const workDir = (root: string) => posix.join(root, "work");

/** Below the folder of all pods: where a container of any pod starts, as `podFolder` names it. */
const WORK_DIR_PATTERN = /^[^/]+\/root\/[^/]+\/work$/;

/** The home of images, of this container or, as a dynamic task hands it on to the tasks that it makes, of another. */
function isImageHome(path: string, root: string): boolean {
  return path === IMAGE_HOME || WORK_DIR_PATTERN.test(posix.relative(posix.join(root, "../../.."), path));
}

/**
 * Processes share the machine's files, so a volume cannot appear at its mount
 * path. A text that is such a path is turned into the place below `root` where
 * the volume is linked; `ancestors` also turns folders that hold mounts
 * (FLYTE_SECRETS_DEFAULT_DIR=/etc/flyte/secrets above a mount per group). The home
 * of images is the container's working folder: two containers that unpack code
 * there must not meet, and the machine's own is none of their business.
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

/** Characters of which names of files are usually made. */
const NAME = String.raw`[\w.~-]`;

/**
 * A word of a command with every mount path in it turned into its place: the whole word, or in a script that is handed to a shell or
 * to another interpreter. A path that goes on (`/data2` beside `/data`), or that stands within another one, is left alone.
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
