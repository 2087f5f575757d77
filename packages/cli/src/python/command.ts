import { join } from "node:path";
import {
  createStackDirs,
  repositoryRoot,
  stackPaths,
  ensurePythonEnvironment,
  installPackages,
  listPackages,
  type StackPython,
  uninstallPackages,
} from "@flyte-ts/local-stack";

/**
 * `flyte-ts python install|uninstall|list [--data DIR] …`: manages the packages for tasks of one
 * stack. Resolves to the exit status; 2 for invalid arguments.
 *
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function pythonCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const [action, ...rest] = argv;
  const { data, args } = extractDataFlag(rest);
  const isChange = action === "install" || action === "uninstall";
  if (isChange ? args.length === 0 : action !== "list" || args.length > 0) return 2;
  const folders = stackPaths(data ?? join(repositoryRoot, ".flyte-ts"));
  createStackDirs(folders);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => interrupted.abort());
  const { signal } = interrupted;
  const { folder: shared } = await ensurePythonEnvironment({ onInstall: (text) => write(`${text} …\n`), signal });
  const python: StackPython = { own: folders.python, shared, signal };
  if (action === "install") await installPackages(python, args);
  else if (action === "uninstall") await uninstallPackages(python, args);
  const listed = await listPackages(python);
  write(`of this stack (${folders.python}):\n${lines(listed.own)}`);
  if (action === "list") write(`shared by all stacks (${shared}):\n${lines(listed.shared)}`);
  return 0;
}

const lines = (packages: readonly string[]): string =>
  packages.length === 0 ? "  none\n" : packages.map((line) => `  ${line}\n`).join("");

/** Extracts `--data DIR` or `--data=DIR` from the arguments; the rest is for pip. */
function extractDataFlag(argv: readonly string[]): { data: string | undefined; args: string[] } {
  const index = argv.findIndex((flag) => flag === "--data" || flag.startsWith("--data="));
  if (index < 0) return { data: undefined, args: [...argv] };
  const flag = argv[index] ?? "";
  const alone = flag === "--data";
  return {
    data: alone ? argv[index + 1] : flag.slice("--data=".length),
    args: [...argv.slice(0, index), ...argv.slice(index + (alone ? 2 : 1))],
  };
}
