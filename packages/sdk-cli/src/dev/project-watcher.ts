import { type Dirent, type FSWatcher, readdirSync, watch } from "node:fs";
import { basename, join, relative } from "node:path";

/** Time without another change after which changes are reported, ms: editors write in steps. */
const QUIET_MS = 30;
/** Files at the root that belong to a project; a task may write others there. */
const ROOT_FILE = /\.[cm]?[jt]sx?$|^(?:package|tsconfig.*)\.json$/;
const FILE = /\.(?:[cm]?[jt]sx?|json)$/;

/**
 * Reports changes of the modules and settings of a project. Folders of packages, and those whose
 * names begin with a dot, are not watched.
 */
export class ProjectWatcher {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #waiting: (() => void) | undefined;

  constructor(private readonly root: string) {
    this.#watchFolders();
  }

  /** Resolves to the paths that changed since the last call, once there are some. */
  async changes(): Promise<readonly string[]> {
    if (this.#changed.size === 0 || this.#timer !== undefined)
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    const paths = [...this.#changed].toSorted();
    this.#changed.clear();
    return paths;
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #watchFolders(): void {
    const folders = foldersOf(this.root);
    for (const [folder, watcher] of this.#watchers) {
      if (folders.includes(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue;
      this.#watch(folder);
    }
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (kind, name) => this.#report(folder, { kind, name }));
      watcher.on("error", () => undefined);
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder was deleted meanwhile.
    }
  }

  #report(folder: string, { kind, name }: { readonly kind: string; readonly name: string | null }): void {
    if (name === null || basename(name).startsWith(".")) return;
    const path = join(folder, name);
    const wasFolder = this.#watchers.has(path);
    if (kind === "rename" && (wasFolder || foldersOf(path).length > 0)) {
      this.#watchFolders();
      // A folder that appeared may hold files that were written before it was watched.
      if (!wasFolder && !holdsModules(path)) return;
    } else if (!(folder === this.root ? ROOT_FILE : FILE).test(name)) return;
    this.#changed.add(relative(this.root, path));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#waiting?.();
    }, QUIET_MS);
  }
}

const holdsModules = (folder: string): boolean => foldersOf(folder).some((inner) => entriesOf(inner)?.some(({ name }) => FILE.test(name)));

/** Lists a folder and those below it that belong to the project; none for a file. */
function foldersOf(folder: string): string[] {
  const entries = entriesOf(folder);
  if (entries === undefined) return [];
  const inner = entries
    .filter((entry) => entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith("."))
    .flatMap(({ name }) => foldersOf(join(folder, name)));
  return [folder, ...inner];
}

/** Returns the entries of a folder; undefined for a file, and for a folder that was deleted. */
function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
