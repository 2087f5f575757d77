import type { Environment, ResolvedSettings } from "./settings.js";

/**
 * Returns a function that returns the token of a call: the one given, that of a client of the OAuth
 * server, of a command, or of the person who is signed in. Undefined: calls carry none.
 */
export function tokensOf(settings: ResolvedSettings, environment: Environment): () => Promise<string | undefined> {
  const { token } = settings;
  if (token !== undefined) return async () => (typeof token === "function" ? token() : token);
  let found: Promise<() => Promise<string | undefined>> | undefined;
  return async () => (await (found ??= findTokens(settings, environment)))();
}

async function findTokens(settings: ResolvedSettings, environment: Environment): Promise<() => Promise<string | undefined>> {
  const { origin, client, command, onDeviceCode, needsPerson } = settings;
  if (command !== undefined) {
    const { commandToken } = await import("../sign-in/external-command.js");
    return () => commandToken(command);
  }
  if (client !== undefined) return (await import("./credentials.js")).clientTokens(origin, client);
  const { personTokens } = await import("../sign-in/sign-in.js");
  return personTokens(origin, { environment, onDeviceCode, isRequired: needsPerson });
}
