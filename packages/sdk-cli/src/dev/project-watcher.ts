import { existsSync, type FSWatcher, readdirSync, watch } from "node:fs";
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
      if (folders.includes(folder) && existsSync(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue;
      const watcher = watch(folder, (kind, name) => this.#report(folder, { kind, name }));
      // A folder that was deleted meanwhile.
      watcher.on("error", () => undefined);
      this.#watchers.set(folder, watcher);
    }
  }

  #report(folder: string, { kind, name }: { readonly kind: string; readonly name: string | null }): void {
    if (name === null || basename(name).startsWith(".")) return;
    // A folder that appeared holds files that were written before it was watched.
    const isFolder = kind === "rename" && !FILE.test(name);
    if (isFolder) this.#watchFolders();
    if (!isFolder && !(folder === this.root ? ROOT_FILE : FILE).test(name)) return;
    this.#changed.add(relative(this.root, join(folder, name)));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#waiting?.();
    }, QUIET_MS);
  }
}

function foldersOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const inner = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith("."))
    .flatMap(({ name }) => foldersOf(join(folder, name)));
  return [folder, ...inner];
}
