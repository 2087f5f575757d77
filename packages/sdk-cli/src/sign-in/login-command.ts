import { parseArgs } from "node:util";
import { FlyteApi, signIn, signOut } from "@flyte-ts/sdk/api";
import { UsageError } from "../usage-error.js";
import { openBrowser } from "./open-browser.js";

type Write = (text: string) => void;
type SignInWay = Parameters<typeof signIn>[1];

/** `flyte-ts login`: signs a person in, and keeps the tokens for later commands. */
export async function loginCommand(argv: readonly string[], write: Write): Promise<number> {
  const { device, endpoint } = parse(argv);
  const origin = await originOf(endpoint);
  await signIn(origin, device ? byDevice(write) : byBrowser(write), process.env);
  write(`signed in at ${origin}\n`);
  return 0;
}

/** `flyte-ts logout`: forgets the tokens. */
export async function logoutCommand(argv: readonly string[], write: Write): Promise<number> {
  const origin = await originOf(parse(argv).endpoint);
  await signOut(origin, process.env);
  write(`signed out at ${origin}\n`);
  return 0;
}

const byBrowser = (write: Write): SignInWay => ({
  kind: "browser",
  open: (url) => {
    write(`sign in at ${url}\n`);
    openBrowser(url);
  },
});

const byDevice = (write: Write): SignInWay => ({
  kind: "device",
  show: ({ userCode, verificationUri, verificationUriComplete, expiresAt }) => {
    write(`open ${verificationUriComplete ?? verificationUri} and enter ${userCode} until ${expiresAt.toLocaleTimeString()}\n`);
  },
});

const originOf = (endpoint: string | undefined): Promise<string> =>
  new FlyteApi({ ...(endpoint !== undefined && { endpoint }) }, process.env).origin();

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: { endpoint: { type: "string" }, device: { type: "boolean", default: false } },
    }).values;
  } catch (cause) {
    const [problem = ""] = (cause as Error).message.split(/\.(?:\s|$)/);
    throw new UsageError(`${problem}; --help lists the flags`, { cause });
  }
}
