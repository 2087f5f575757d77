import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse, stringify } from "yaml";
import { respondsOk } from "../../stack/http-probe.js";
import type { RunningStack, StackPart } from "../../stack/stack-fixture.js";

/** Settings of a service, as in its configuration file. */
export type Settings = Readonly<Record<string, unknown>>;

const TIMEOUT_MS = 120_000;

/** Reads the configuration of a service of a stack. */
export function settingsOf({ folder }: RunningStack, part: StackPart): Settings {
  return parse(readFileSync(join(folder, "config", `${part}.yaml`), "utf8")) as Settings;
}

/**
 * Changes settings of a service of a running stack. Resolves when the stack has restarted it and it
 * is ready.
 */
export async function reconfigure(stack: RunningStack, part: StackPart, changes: Settings): Promise<void> {
  const settings = { ...settingsOf(stack, part), ...changes };
  writeFileSync(join(stack.folder, "config", `${part}.yaml`), stringify(settings), { mode: 0o600 });
  const before = new Set(stack.pids(part));
  for (const pid of before) process.kill(pid, "SIGTERM");
  const ready = `http://127.0.0.1:${(settings.ops as { port: number }).port}/readyz`;
  await waitForResponse(part, ready, () => stack.pids(part).some((pid) => !before.has(pid)));
}

/** Resolves when the URL answers 200 and the condition holds. @throws Error after two minutes */
export async function waitForResponse(name: string, url: string, condition: () => boolean = () => true): Promise<void> {
  for (const deadline = Date.now() + TIMEOUT_MS; ; await sleep(100)) {
    if ((await respondsOk(url)) && condition()) return;
    if (Date.now() > deadline) throw new Error(`${name} does not answer at ${url}`);
  }
}
