import { spawn } from "node:child_process";

/** Programs that open an address of the web, by platform. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the browser. A machine without one is no error: the address was printed. */
export function openBrowser(url: string): void {
  const [program, ...words] = OPENERS[process.platform] ?? ["xdg-open"];
  spawn(program, [...words, url], { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}
