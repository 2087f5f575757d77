import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Paths of one pod's own files. */
export interface PodDir {
  readonly path: string;
  readonly volumes: string;
  readonly home: string;
  readonly temporary: string;
  /** Stands for `/` of a container as far as mounts and its working folder go. */
  root(container: string): string;
  /** One folder per start of the container. */
  runs(container: string): string;
}

/** Short names, since sockets below TMPDIR may have no more than 107 characters in their path. */
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

/** Creates the folder and notes whose it is; the note is there in full or not at all. */
export function createPodDir(folder: PodDir, uid: string): void {
  const owner = join(folder.path, "uid");
  if (existsSync(owner)) return;
  for (const path of [folder.volumes, folder.home, folder.temporary]) mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(`${owner}.new`, uid);
  renameSync(`${owner}.new`, owner);
}

/** All folders of pods, with the uid that each notes: empty where whoever made it was killed before. */
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
