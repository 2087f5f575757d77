import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { respondsOk } from "../../stack/http-probe.js";
import type { RunningStack, StackPart } from "../../stack/stack-fixture.js";
import { type SilentLink, startSilentLink } from "@flyte-ts/testing";

/**
 * Services of a stack that call others, and their targets. Pods get their addresses from
 * local-cluster.
 */
const CALLEES = {
  admin: ["postgres", "nats", "local-cluster", "local-blobstore"],
  propeller: ["nats", "local-cluster", "local-blobstore", "admin", "datacatalog"],
  "plugin-pod": ["nats", "local-cluster", "local-blobstore"],
  "plugin-echo": ["nats"],
  datacatalog: ["postgres", "local-blobstore"],
  scheduler: ["postgres", "admin"],
  "local-cluster": ["local-blobstore"],
} as const satisfies Partial<Record<StackPart, readonly StackPart[]>>;

type Caller = keyof typeof CALLEES;
const CALLERS = Object.keys(CALLEES) as Caller[];

/** Timeout for all services to restart with their new addresses, ms. */
const TIMEOUT_MS = 120_000;

/** Links between all services of a stack and their targets; each link can drop all packets. */
export interface StackLinks {
  /** Silences all links from and to this part. */
  setSilent(part: StackPart, silent: boolean): void;
  stop(): Promise<void>;
}

/**
 * Puts a link in front of each address in the configuration of each service and restarts the
 * services.
 *
 * @param more further text replacements in the configuration, by service
 */
export async function linkStack(stack: RunningStack, more: Partial<Record<Caller, readonly [RegExp, string]>> = {}): Promise<StackLinks> {
  const ports = portsOf(stack);
  const links: { readonly caller: Caller; readonly callee: StackPart; readonly link: SilentLink }[] = [];
  for (const caller of CALLERS) {
    for (const callee of CALLEES[caller]) links.push({ caller, callee, link: await startSilentLink(ports[callee]) });
    const own = links.filter((each) => each.caller === caller);
    const [pattern, replacement] = more[caller] ?? [/$^/, ""];
    rewrite(stack, { caller, own, ports, change: (text) => text.replace(pattern, replacement) });
  }
  await restartAll(stack, ports.ops);
  return {
    setSilent: (part, silent) => {
      for (const { caller, callee, link } of links) if (caller === part || callee === part) link.setSilent(silent);
    },
    stop: async () => {
      await Promise.all(links.map(({ link }) => link.stop()));
    },
  };
}

type Callee = (typeof CALLEES)[Caller][number];

function portsOf({ folder }: RunningStack): Record<Callee, number> & { readonly ops: Readonly<Record<string, number>> } {
  const ports = JSON.parse(readFileSync(join(folder, "config", "ports.json"), "utf8")) as Record<string, number> & {
    ops: Record<string, number>;
  };
  const port = (name: string) => ports[name] as number;
  return {
    postgres: port("postgres"),
    nats: port("nats"),
    "local-cluster": port("cluster"),
    "local-blobstore": port("blobs"),
    admin: port("api"),
    datacatalog: port("catalog"),
    // Local-cluster answers on the port of its API only.
    ops: { ...ports.ops, "local-cluster": port("cluster") },
  };
}

interface Rewriting {
  readonly caller: Caller;
  readonly own: readonly { readonly callee: StackPart; readonly link: SilentLink }[];
  readonly ports: Readonly<Record<Callee, number>>;
  readonly change: (text: string) => string;
}

/**
 * Replaces the addresses that the service calls. Keeps the service's own addresses and those that
 * it reports to others.
 */
function rewrite({ folder, kubeconfig }: RunningStack, { caller, own, ports, change }: Rewriting): void {
  const file = join(folder, "config", `${caller}.yaml`);
  let text = change(readFileSync(file, "utf8"));
  for (const { callee, link } of own) {
    const address = `127.0.0.1:${ports[callee as Callee]}`;
    const through = (content: string) => content.replaceAll(address, `127.0.0.1:${link.port}`);
    text = through(text);
    if (callee !== "local-cluster") continue;
    const linked = join(folder, "config", `${caller}.kubeconfig`);
    writeFileSync(linked, through(readFileSync(kubeconfig, "utf8")), { mode: 0o600 });
    text = text.replaceAll(kubeconfig, linked);
  }
  writeFileSync(file, text);
}

/** Stops the services; the stack restarts them with their changed files. */
async function restartAll(stack: RunningStack, ops: Readonly<Record<string, number>>): Promise<void> {
  const before = new Map(CALLERS.map((caller) => [caller, stack.pids(caller).join()]));
  for (const caller of CALLERS) for (const pid of stack.pids(caller)) process.kill(pid, "SIGTERM");
  for (const deadline = Date.now() + TIMEOUT_MS; ; await sleep(100)) {
    const waiting: string[] = [];
    for (const caller of CALLERS) {
      const now = stack.pids(caller).join();
      if (now === "" || now === before.get(caller) || !(await isReady(ops[caller]))) waiting.push(caller);
    }
    if (waiting.length === 0) return;
    if (Date.now() > deadline) throw new Error(`not ready with linked addresses: ${waiting.join(", ")}\n${stack.output()}`);
  }
}

function isReady(port: number | undefined): Promise<boolean> {
  return respondsOk(`http://127.0.0.1:${port}/readyz`);
}
