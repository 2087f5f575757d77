import { createInterface } from "node:readline/promises";
import { UsageError } from "../usage-error.js";

/** Settings of a new project. */
export interface NewProject {
  readonly project: string;
  readonly domain: string;
}

/** Asks for the settings in the terminal. @throws UsageError without a terminal */
export async function askSettings(defaults: NewProject): Promise<NewProject> {
  if (!process.stdin.isTTY) throw new UsageError("init asks in a terminal, and there is none; --yes takes the defaults");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const ask = async (question: string, value: string) => (await terminal.question(`${question} (${value}): `)).trim() || value;
    const project = await ask("project of Flyte", defaults.project);
    return { project, domain: await ask("domain", defaults.domain) };
  } finally {
    terminal.close();
  }
}
