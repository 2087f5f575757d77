import { join } from "node:path";
import {
  createStackDirs,
  repositoryRoot,
  stackPaths,
  ensurePythonEnvironment,
  installExtra,
  installPackages,
  listPackages,
  type StackPython,
  uninstallPackages,
} from "@flyte-ts/local-stack";

/**
 * `flyte-ts python install|uninstall|list [--data DIR] …`: manages the packages for tasks of one
 * stack; `install --extra NAME` installs those of a plugin. Resolves to the exit status; 2 for
 * invalid arguments.
 *
 * @throws PythonEnvironmentError with the last lines of pip
 */
export async function pythonCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const [action, ...rest] = argv;
  const { value: data, rest: withoutData } = extractFlag(rest, "--data");
  const { value: extra, rest: args } = action === "install" ? extractFlag(withoutData, "--extra") : { value: undefined, rest: withoutData };
  const isChange = action === "install" || action === "uninstall";
  if (isChange ? (args.length === 0) === (extra === undefined) : action !== "list" || args.length > 0) return 2;
  const folders = stackPaths(data ?? join(repositoryRoot, ".flyte-ts"));
  createStackDirs(folders);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => interrupted.abort());
  const { signal } = interrupted;
  const onInstall = (text: string) => write(`${text} …\n`);
  const { folder: shared } = await ensurePythonEnvironment({ onInstall, signal });
  const python: StackPython = { own: folders.python, shared, signal };
  if (extra !== undefined) {
    await installExtra(python, extra, onInstall);
    return 0;
  }
  if (action === "install") await installPackages(python, args);
  else if (action === "uninstall") await uninstallPackages(python, args);
  const listed = await listPackages(python);
  write(`of this stack (${folders.python}):\n${lines(listed.own)}`);
  if (action === "list") write(`shared by all stacks (${shared}):\n${lines(listed.shared)}`);
  return 0;
}

const lines = (packages: readonly string[]): string =>
  packages.length === 0 ? "  none\n" : packages.map((line) => `  ${line}\n`).join("");

/** Extracts `FLAG VALUE` or `FLAG=VALUE` from the arguments; the rest is for pip. */
function extractFlag(argv: readonly string[], flag: string): { value: string | undefined; rest: string[] } {
  const index = argv.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (index < 0) return { value: undefined, rest: [...argv] };
  const word = argv[index] ?? "";
  const alone = word === flag;
  return {
    value: alone ? argv[index + 1] : word.slice(flag.length + 1),
    rest: [...argv.slice(0, index), ...argv.slice(index + (alone ? 2 : 1))],
  };
}
