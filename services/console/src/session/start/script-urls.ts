/** Part of the browser's interface for Trusted Types, which TypeScript does not describe. */
interface TrustedTypes {
  createPolicy(name: "default", rules: { readonly createScriptURL: (url: string) => string }): unknown;
}

const ASSETS = "/console/assets/";

/** Lets the page start workers from files of the console; from any other address it is refused. */
export function allowOwnWorkers(trustedTypes: TrustedTypes | undefined, origin: string): void {
  trustedTypes?.createPolicy("default", { createScriptURL: (url) => ownScript(url, origin) });
}

/**
 * Returns the address of a script of the console.
 *
 * @throws TypeError when it is anything else.
 */
export function ownScript(url: string, origin: string): string {
  const { href, origin: from, pathname } = new URL(url, origin);
  if (from !== origin || !pathname.startsWith(ASSETS)) throw new TypeError(`${url} is no script of the console`);
  return href;
}
