import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Paths of one pod's files. */
export interface PodDir {
  readonly path: string;
  readonly volumes: string;
  readonly home: string;
  readonly temporary: string;
  /** Root of a container for mounts and its working directory. */
  root(container: string): string;
  /** Directory with one subdirectory per run of the container. */
  runs(container: string): string;
}

/** Short names: paths of sockets below TMPDIR are limited to 107 characters. */
const folderName = (uid: string) => uid.replaceAll("-", "").slice(0, 16);

export function podDir(parent: string, uid: string): PodDir {
  const path = join(parent, folderName(uid));
  return {
    path,
    volumes: join(path, "volumes"),
    home: join(path, "home"),
    temporary: join(path, "tmp"),
    root: (container) => join(path, "root", container),
    runs: (container) => join(path, "runs", container),
  };
}

/** Creates the directory and, atomically, a file with the pod's uid. */
export function createPodDir(folder: PodDir, uid: string): void {
  const owner = join(folder.path, "uid");
  if (existsSync(owner)) return;
  for (const path of [folder.volumes, folder.home, folder.temporary]) mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(`${owner}.new`, uid);
  renameSync(`${owner}.new`, owner);
}

/** Lists all pod directories with their uids; the uid is empty when its writer was killed. */
export function findPodDirs(parent: string): readonly { readonly uid: string; readonly path: string }[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent).map((name) => {
    const path = join(parent, name);
    try {
      return { uid: readFileSync(join(path, "uid"), "utf8"), path };
    } catch {
      return { uid: "", path };
    }
  });
}
