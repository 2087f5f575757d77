import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type KubeObject, listAt, textAt } from "../../object/model.js";
import { logTail, MAX_TERMINATION_BYTES } from "./container-log.js";
import type { ContainerSpec } from "./container-spec.js";
import { containerEnvironment, type EnvironmentInput, type Lookup } from "./environment.js";
import { expand } from "./expand.js";
import { findExecutable } from "./find-executable.js";
import type { StartRequest } from "../warm/warm-start.js";
import { absolutePath, mountsOf, translatePath, translateArgument, workDir } from "./mounts.js";
import type { PodDir } from "../pod/pod-dir.js";
import type { RunDir } from "./run-dir.js";
import { linkMounts } from "./volumes.js";

export interface MachineSettings {
  readonly nodeName: string;
  readonly hostIP: string;
  readonly allocatable: ReadonlyMap<string, bigint>;
  /** Variables of every container. */
  readonly podEnv: Readonly<Record<string, string>>;
  /** Directories prepended to PATH. */
  readonly podPath: readonly string[];
  /** Environment of the service; only machine-wide variables are passed on. */
  readonly machineEnv: Readonly<Record<string, string | undefined>>;
}

export interface StartInput {
  readonly pod: KubeObject;
  readonly spec: ContainerSpec;
  readonly folder: PodDir;
  readonly lookup: Lookup;
  readonly settings: MachineSettings;
}

/** Start of a container's process. */
export interface StartPlan {
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly directory: string;
  /** Set when the command cannot be executed: kubelet's StartError. */
  readonly unrunnable: string | undefined;
}

/** The spec has no command, and the image's entry point is unknown. */
export class NoCommandError extends Error {
  override readonly name = "NoCommandError";
}

/** Machine-wide variables for network access, locale and Java. */
const PASSED_ON_VARIABLES = [
  "LANG",
  "LC_ALL",
  "TZ",
  "JAVA_HOME",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
];

/**
 * Prepares a container's directories and computes command, environment and working directory.
 *
 * @throws ContainerConfigError, NoCommandError
 */
export function planStart(input: StartInput): StartPlan {
  const { pod, spec, folder, lookup, settings } = input;
  const root = folder.root(spec.name);
  const mounts = mountsOf(spec.raw);
  const terminationPath = textAt(spec.raw, "terminationMessagePath") ?? "/dev/termination-log";
  const own: EnvironmentInput = { pod, container: spec.raw, lookup, hostIP: settings.hostIP, allocatable: settings.allocatable };
  const named = containerEnvironment(own);
  const words = [...listAt(spec.raw, "command"), ...listAt(spec.raw, "args")].filter((word): word is string => typeof word === "string");
  if (words.length === 0) throw new NoCommandError(`failed to generate container spec: no command specified`);

  const known = new Map([...Object.entries(settings.podEnv), ...named]);
  const translated = (text: string, ancestors: boolean) => translatePath(text, { mounts, root, ancestors });
  const command = words.map((word) => translateArgument(expand(word, known), { mounts, root }));
  const directory = workingDir(textAt(spec.raw, "workingDir"), { root, translated });
  mkdirSync(directory, { recursive: true });
  linkMounts(mounts, { root, volumes: folder.volumes });
  const message = join(root, absolutePath(terminationPath));
  mkdirSync(dirname(message), { recursive: true });
  rmSync(message, { force: true });

  const environment = new Map([
    ["HOME", folder.home],
    ["TMPDIR", folder.temporary],
    ["HOSTNAME", pod.metadata.name],
  ]);
  for (const [name, value] of commonEnvironment(settings)) environment.set(name, value);
  for (const [name, value] of named) environment.set(name, translated(value, true));
  environment.set("FLYTE_TS_CONTAINER_ROOT", root).set("FLYTE_TS_TERMINATION_LOG", message);
  const path = searchPath(settings, environment);
  environment.set("PATH", path);

  const executable = findExecutable(command[0] ?? "", { path, directory });
  const unrunnable =
    executable === undefined
      ? `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: ${JSON.stringify(command[0])}: ${command[0]?.includes("/") === true ? `stat ${command[0]}: no such file or directory` : "executable file not found in $PATH"}: unknown`
      : undefined;
  return { command: executable === undefined ? command : [executable, ...command.slice(1)], environment, directory, unrunnable };
}

/** Environment that all containers of this machine share. */
function commonEnvironment({ machineEnv, podEnv }: MachineSettings): Map<string, string> {
  const environment = new Map<string, string>();
  for (const name of PASSED_ON_VARIABLES) if (machineEnv[name] !== undefined) environment.set(name, machineEnv[name]);
  for (const [name, value] of Object.entries(podEnv)) environment.set(name, value);
  return environment;
}

function searchPath({ podPath, machineEnv }: MachineSettings, environment: ReadonlyMap<string, string>): string {
  return [...podPath, environment.get("PATH") ?? machineEnv["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"].join(":");
}

/**
 * Request of a container with a command but without variables, for starting a fork server in
 * advance.
 */
export function defaultForkRequest(command: readonly string[], settings: MachineSettings): Omit<StartRequest, "run"> {
  const environment = commonEnvironment(settings);
  environment.set("PATH", searchPath(settings, environment));
  return { command, environment: Object.fromEntries(environment), directory: "/" };
}

/** Resolves a working directory below the container's root, or within a mount. */
function workingDir(
  given: string | undefined,
  { root, translated }: { root: string; translated: (text: string, ancestors: boolean) => string },
): string {
  if (given === undefined || given === "") return workDir(root);
  const path = translated(given, false);
  return path === given ? join(root, absolutePath(given)) : path;
}

/** Returns the termination message, or the end of the log. */
export function terminationMessage(
  { folder, spec }: Pick<StartInput, "folder" | "spec">,
  { run, exitCode }: { run: RunDir; exitCode: number },
): string {
  const path = join(folder.root(spec.name), absolutePath(textAt(spec.raw, "terminationMessagePath") ?? "/dev/termination-log"));
  if (existsSync(path)) {
    const text = readFileSync(path).subarray(0, MAX_TERMINATION_BYTES).toString("utf8");
    if (text !== "") return text;
  }
  return textAt(spec.raw, "terminationMessagePolicy") === "FallbackToLogsOnError" && exitCode !== 0 ? logTail(run) : "";
}
