import { join } from "node:path";
import { makeFolders } from "../stack/data-folder.js";
import { repositoryRoot, stackFolders } from "../stack/paths.js";
import { ensurePythonEnvironment } from "../stack/python-environment.js";
import { installPackages, listPackages, type StackPython, uninstallPackages } from "./own-packages.js";

/**
 * `flyte-ts python install|uninstall|list [--data DIR] …`: manages the packages for tasks of one stack. Resolves to the
 * exit status; 2 for invalid arguments.
 *
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function pythonCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const [action, ...rest] = argv;
  const { data, words } = dataFlag(rest);
  const isChange = action === "install" || action === "uninstall";
  if (isChange ? words.length === 0 : action !== "list" || words.length > 0) return 2;
  const folders = stackFolders(data ?? join(repositoryRoot, ".flyte-ts"));
  makeFolders(folders);
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => ending.abort());
  const { signal } = ending;
  const { folder: shared } = await ensurePythonEnvironment({ onInstall: (text) => write(`${text} …\n`), signal });
  const python: StackPython = { own: folders.python, shared, signal };
  if (action === "install") await installPackages(python, words);
  else if (action === "uninstall") await uninstallPackages(python, words);
  const listed = await listPackages(python);
  write(`of this stack (${folders.python}):\n${lines(listed.own)}`);
  if (action === "list") write(`shared by all stacks (${shared}):\n${lines(listed.shared)}`);
  return 0;
}

const lines = (packages: readonly string[]): string =>
  packages.length === 0 ? "  none\n" : packages.map((line) => `  ${line}\n`).join("");

/** Extracts `--data DIR` or `--data=DIR` from the arguments; the rest is for pip. */
function dataFlag(argv: readonly string[]): { data: string | undefined; words: string[] } {
  const at = argv.findIndex((word) => word === "--data" || word.startsWith("--data="));
  if (at < 0) return { data: undefined, words: [...argv] };
  const word = argv[at] ?? "";
  const alone = word === "--data";
  return { data: alone ? argv[at + 1] : word.slice("--data=".length), words: [...argv.slice(0, at), ...argv.slice(at + (alone ? 2 : 1))] };
}
