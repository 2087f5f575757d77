import { parseFlags } from "../parse-flags.js";
import { askSettings } from "./ask-settings.js";
import { installPackages } from "./install-packages.js";
import { writeProject } from "./write-project.js";
import { basename, relative, resolve } from "node:path";

const FLAGS = {
  project: { type: "string", default: "flytesnacks" },
  domain: { type: "string", default: "development" },
  yes: { type: "boolean", default: false },
  "no-install": { type: "boolean", default: false },
} as const;

/** `flyte-ts init [FOLDER]`: writes the files of a new project, and installs its packages. */
export async function initCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const { values, positionals } = parseFlags(argv, FLAGS);
  if (positionals.length > 1) return 2;
  const folder = resolve(positionals[0] ?? ".");
  const settings = values.yes ? values : await askSettings(values);
  for (const { path, action } of writeProject(folder, settings)) write(`${action.padEnd(8)} ${path}\n`);
  if (!values["no-install"]) installPackages(folder);
  write(nextSteps(folder));
  return 0;
}

function nextSteps(folder: string): string {
  const path = relative(process.cwd(), folder);
  const steps = [
    ...(path === "" ? [] : [[`cd ${path}`, `the project ${basename(folder)}`]]),
    ["npm test", "runs its tests"],
    ["npx flyte-ts run src/flows/hello.ts hello --name you", "runs the workflow in this process"],
    ["npx flyte-ts dev src/flows/hello.ts hello", "checks and runs it after each save"],
    ["npx flyte-ts register", "registers it on a server"],
  ];
  return `\n${steps.map(([command = "", about]) => `  ${command.padEnd(54)} ${about}\n`).join("")}`;
}
