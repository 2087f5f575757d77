import type { BundlePurpose } from "./bundling/entry-source.js";
import { keepCompiledCode } from "./compiled-code.js";
import { UsageError } from "./usage-error.js";
import { helpText, usageOf } from "./usage.js";

type Write = (text: string) => void;
/** Runs a verb. Returns the exit status; 2 prints its usage. */
type Verb = (argv: readonly string[], write: Write) => Promise<number>;

/** Verbs, each of which loads only its own modules. */
const VERBS: Readonly<Record<string, (argv: readonly string[]) => Promise<Verb>>> = {
  init: async () => (await import("./init/init-command.js")).initCommand,
  run: async (argv) => {
    await prepareHost(argv.includes("--remote") ? "registered" : "local");
    return (await import("./run/run-command.js")).runCommand;
  },
  dev: async () => (await import("./dev/dev-command.js")).devCommand,
  check: async () => (await import("./check/check-command.js")).checkCommand,
  register: async () => {
    await prepareHost("registered");
    return (await import("./register/register-command.js")).registerCommand;
  },
  package: async () => (await import("./register/package-command.js")).packageCommand,
  generate: async () => (await import("./generate/generate-command.js")).generateCommand,
  launch: async () => (await import("./watch/launch-command.js")).launchCommand,
  watch: async () => (await import("./watch/watch-command.js")).watchCommand,
  login: async () => (await import("./sign-in/login-command.js")).loginCommand,
  logout: async () => (await import("./sign-in/login-command.js")).logoutCommand,
  logs: async () => (await import("./watch/logs-command.js")).logsCommand,
};

/** Starts the process that loads the bundle, while this one loads the bundler. */
async function prepareHost(purpose: BundlePurpose): Promise<void> {
  (await import("./entities/entity-host.js")).EntityHost.prepare(purpose);
}

/** Verbs of the local stack, which is another package. */
const STACK_VERBS = ["start", "import", "doctor", "backup", "restore", "python", "plugin"];

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "help" || name === "--help" || (rest.includes("--help") && !rest.includes("--"))) {
    process.stdout.write(helpText(name === "help" ? rest[0] : name));
    return 0;
  }
  if (STACK_VERBS.includes(name)) throw new UsageError(`flyte-ts ${name} is in @flyte-ts/stack: npm i -D @flyte-ts/stack`);
  const load = VERBS[name];
  if (load === undefined) throw new UsageError(`unknown verb ${JSON.stringify(name)}; flyte-ts --help lists all verbs`);
  const status = await (await load(rest))(rest, (text) => void process.stdout.write(text));
  if (status === 2) process.stderr.write(usageOf(name) ?? "");
  return status;
}

/** Errors whose message tells the user what to do. */
const USER_ERRORS = ["UsageError", "ProjectError", "RpcError", "ServerError", "RestError", "SignInError"];

/** gRPC code of a server that cannot be reached. */
const UNAVAILABLE = 14;

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "RpcError" && "code" in error && error.code === UNAVAILABLE)
    return `the API cannot be reached; --endpoint or FLYTE_PLATFORM_URL names it: ${reasonOf(error.message)}`;
  return USER_ERRORS.includes(error.name) ? error.message : (error.stack ?? error.message);
}

/** Returns the reason in a message of the gRPC client, which wraps it in remarks of its own. */
const reasonOf = (message: string): string => /Last error: (?:Error: )?(.*?)\. Resolution note: *$/s.exec(message)?.[1] ?? message;

// Node 22 warns about functions that later versions keep.
process.removeAllListeners("warning");
process.on("warning", ({ name, message }) => {
  if (name !== "ExperimentalWarning") process.stderr.write(`${name}: ${message}\n`);
});

keepCompiledCode();
main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`flyte-ts: ${describeError(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  },
);
