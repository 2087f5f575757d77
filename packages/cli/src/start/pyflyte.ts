import { spawn } from "node:child_process";
import { join } from "node:path";
import { captureTail } from "@flyte-ts/host";
import { displayAddress, flytekitEnv, type PyflyteTarget, repositoryRoot } from "@flyte-ts/local-stack";

/** Maximum of output to keep, characters. */
const MAX_OUTPUT_CHARS = 1 << 20;

/** Stock pyflyte in the folder of the examples, loaded and waiting. */
export interface PreloadedPyflyte {
  /** Starts the loaded command. Resolves to its output when it exits. */
  run(): Promise<string>;
}

/**
 * The script `pyflyte`, which waits for a line between loading flytekit and running; without that
 * line it ends.
 */
const PROGRAM = `import os, sys
sys.path[0] = os.path.dirname(sys.executable)
from flytekit.clis.sdk_in_container.pyflyte import main
if sys.stdin.readline() == "run\\n":
    sys.argv[0] = os.path.join(sys.path[0], "pyflyte")
    sys.exit(main())
`;

/** flytekit takes a second to load: the services start meanwhile. */
export function preloadPyflyte({ pythonBin, host, api, signIn }: PyflyteTarget, args: readonly string[]): PreloadedPyflyte {
  const env = { ...process.env, PATH: `${pythonBin}:${process.env["PATH"] ?? ""}` };
  // flytekit finds a sandbox on its default port; another port must be configured.
  const platform = { FLYTE_PLATFORM_URL: `${displayAddress(host)}:${api}`, FLYTE_PLATFORM_INSECURE: "true" };
  const child = spawn(join(pythonBin, "python"), ["-c", PROGRAM, ...args], {
    cwd: join(repositoryRoot, "examples", "python"),
    env: {
      ...env,
      ...(host === "127.0.0.1" && api === 30_080 && signIn === undefined ? {} : platform),
      ...(signIn && flytekitEnv(signIn)),
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const text = captureTail([child.stdout, child.stderr], MAX_OUTPUT_CHARS);
  child.stdin.on("error", () => undefined);
  const ended = new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(text()));
  });
  // The caller of `run` gets the error.
  ended.catch(() => undefined);
  return {
    run: () => {
      child.stdin.end("run\n");
      return ended;
    },
  };
}
