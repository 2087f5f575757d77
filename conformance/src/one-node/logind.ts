import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { testWatchdog } from "@flyte-ts/testing";

/** Replaces systemd-logind, from which the kubelet learns that its machine shuts down. */
export class Logind {
  private constructor(
    private readonly child: ChildProcess,
    /** Environment for the kubelet. */
    readonly environment: { readonly DBUS_SYSTEM_BUS_ADDRESS: string },
  ) {}

  static async start(folder: string): Promise<Logind> {
    const socket = join(folder, "bus");
    // Debian's system Python has the modules `dbus` and `gi`.
    const child = spawn("/usr/bin/python3", [join(import.meta.dirname, "logind.py"), socket], { stdio: ["pipe", "pipe", "inherit"] });
    testWatchdog().watch(child, "SIGTERM");
    await once(child.stdout, "data");
    return new Logind(child, { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${socket}` });
  }

  announce(goesDown: boolean): void {
    this.child.stdin?.write(`${goesDown}\n`);
  }

  async stop(): Promise<void> {
    this.child.stdin?.end();
    await once(this.child, "exit");
  }
}
