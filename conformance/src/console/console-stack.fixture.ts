import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { clientCredentials } from "@flyte-ts/auth";
import type { ChannelOptions } from "@flyte-ts/client";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { root } from "../repository.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { connectToStack, type StackClient } from "../stack/use-stack.js";
import { openWatchedPage, startBrowser, type WatchedPage } from "./console-browser.fixture.js";

export interface ConsoleStackOptions {
  readonly flags?: readonly string[];
  /** Further variables of the stack. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Credentials of the client, from the secrets of the stack. */
  readonly credentials?: (stack: RunningStack) => Pick<ChannelOptions, "metadata">;
  /** Settings of each journey's browser context. */
  readonly context?: BrowserContextOptions;
  /** Time that a step of a journey may take, ms; default: that of the browser's driver. */
  readonly stepMs?: number;
}

/** A stack of its own with its console, a client, and a browser. */
export interface ConsoleStack {
  readonly stack: RunningStack;
  readonly access: StackClient;
  /** Origin of the console. */
  readonly origin: string;
  /** Runs a journey in a browser's context of its own. */
  journey(work: (at: WatchedPage) => Promise<void>, context?: BrowserContextOptions): Promise<void>;
  close(): Promise<void>;
}

/** @param chromium program of the browser */
export async function startConsoleStack(chromium: string, options: ConsoleStackOptions = {}): Promise<ConsoleStack> {
  const [stack, browser]: [RunningStack, Browser] = await Promise.all([
    startStack(options.flags, options.environment),
    startBrowser(chromium),
  ]);
  const access = connectToStack(stack, options.credentials?.(stack));
  const origin = `http://localhost:${stack.api}`;
  return {
    stack,
    access,
    origin,
    async journey(work, context = {}) {
      const at = await openWatchedPage(browser, origin, { ...options.context, ...context });
      if (options.stepMs !== undefined) at.page.setDefaultTimeout(options.stepMs);
      try {
        await work(at);
      } finally {
        await at.close();
      }
    },
    async close() {
      await browser.close();
      await access.close();
    },
  };
}

/** Returns the credentials of a stack's program `flytekit`. */
export function programCredentials({ api, folder }: RunningStack): Pick<ChannelOptions, "metadata"> {
  const client = { clientId: "flytekit", clientSecretFile: join(folder, "secrets", "flytekit"), scopes: ["all"] };
  return clientCredentials(`127.0.0.1:${api}`, client, () => new Date());
}

/**
 * Runs the accounts command on the database of a stack.
 *
 * @param input text that the command reads, such as a password
 */
export function runAccounts({ folder }: RunningStack, args: readonly string[], input = ""): void {
  const program = join(root, "services/admin/dist/accounts/main.js");
  execFileSync(process.execPath, [program, ...args, "--config", join(folder, "config", "admin.yaml")], { input });
}
