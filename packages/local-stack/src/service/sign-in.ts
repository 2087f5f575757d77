import { runProgram, replaceFile } from "@flyte-ts/host";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../state/paths.js";

/**
 * Sign-in of a local stack: admin issues the tokens itself, and every service has its own secret.
 */
export interface StackSignIn {
  /** Address of the API for clients: the issuer of the tokens. */
  readonly publicUrl: string;
  /** One file for each secret, readable by its owner alone. */
  readonly secretsFolder: string;
}

/** Client id of pyflyte here, and of eager tasks. */
export const FLYTEKIT_CLIENT_ID = "flytekit";
/** The user with all rights. */
const ADMIN_USER = "admin";

export const passwordFile = ({ secretsFolder }: StackSignIn): string => join(secretsFolder, "admin-password");

/** Configuration of a service that calls others. */
export function clientSecretOf({ secretsFolder }: StackSignIn, clientId: string): { clientId: string; clientSecretFile: string } {
  return { clientId, clientSecretFile: join(secretsFolder, clientId) };
}

/** `auth` of admin. */
export function adminAuth({ publicUrl, secretsFolder }: StackSignIn): object {
  return {
    mode: "required",
    publicUrl,
    builtIn: { secretsFolder },
    roles: [
      { subject: ADMIN_USER, role: "admin" },
      { subject: FLYTEKIT_CLIENT_ID, role: "contributor" },
    ],
  };
}

/** `auth` of the data catalog, which only propeller calls. */
export function catalogAuth({ publicUrl }: StackSignIn): object {
  return { mode: "required", providers: [{ issuer: publicUrl, audience: [publicUrl] }] };
}

/**
 * Environment variables with which flytekit signs in by the secret of {@link FLYTEKIT_CLIENT_ID}.
 */
export function flytekitEnv(signIn: StackSignIn): Record<string, string> {
  const { clientId, clientSecretFile } = clientSecretOf(signIn, FLYTEKIT_CLIENT_ID);
  return {
    FLYTE_CREDENTIALS_AUTH_MODE: "client_credentials",
    FLYTE_CREDENTIALS_CLIENT_ID: clientId,
    FLYTE_CREDENTIALS_CLIENT_SECRET_LOCATION: clientSecretFile,
  };
}

/**
 * True when flytekit can sign in: with sign-in enabled, the secret is created at the first start.
 */
export function hasClientSecret(signIn: StackSignIn | undefined): boolean {
  return signIn === undefined || existsSync(clientSecretOf(signIn, FLYTEKIT_CLIENT_ID).clientSecretFile);
}

/**
 * Creates the client and the user of the stack at its first start; only their files hold the
 * secrets.
 */
export async function provisionAccounts(signIn: StackSignIn, adminConfigFile: string): Promise<void> {
  mkdirSync(signIn.secretsFolder, { recursive: true, mode: 0o700 });
  const { clientSecretFile } = clientSecretOf(signIn, FLYTEKIT_CLIENT_ID);
  if (!existsSync(clientSecretFile)) {
    const secret = await runAccountsCommand(["service", FLYTEKIT_CLIENT_ID], { adminConfigFile });
    replaceFile(clientSecretFile, secret);
  }
  const file = passwordFile(signIn);
  if (!existsSync(file)) replaceFile(file, randomBytes(18).toString("base64url"));
  await runAccountsCommand(["user", ADMIN_USER], { adminConfigFile, input: readFileSync(file, "utf8") });
}

interface AccountsCommand {
  readonly adminConfigFile: string;
  /** Text for its standard input. */
  readonly input?: string;
}

/** Runs admin's command for accounts. @returns its output. */
function runAccountsCommand(args: readonly string[], { adminConfigFile, input = "" }: AccountsCommand): Promise<string> {
  const program = join(repositoryRoot, "services", "admin", "dist", "accounts", "main.js");
  return runProgram(process.execPath, [program, ...args, "--config", adminConfigFile], { input });
}
