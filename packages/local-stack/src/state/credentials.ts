import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { BusPasswords } from "../service/bus-config.js";
import { StackError } from "../stack-error.js";
import { replaceFile } from "@flyte-ts/host";

/** Random secrets of one stack, kept across restarts. */
export interface StackCredentials {
  /** Key pair of the local blob store. */
  readonly blobKeyId: string;
  readonly blobSecretKey: string;
  /** Grants all rights on the Kubernetes API of the local cluster. */
  readonly clusterToken: string;
  /** Grants access only to the logs of the local cluster's pods: links to logs carry it. */
  readonly clusterLogToken: string;
  /** Passwords of the services on the message bus. */
  readonly bus: BusPasswords;
}

const SECRET_BYTES = 24;
const KEY_ID_BYTES = 8;

const stored = z.record(z.string(), z.string().min(1));

/**
 * Reads the secrets of a stack and generates missing ones. The file is readable by its owner alone;
 * it is replaced atomically, so that a crash leaves the old or the new one.
 *
 * @param busUsers services that use the message bus
 * @throws StackError when the file is damaged
 */
export function stackCredentials(file: string, busUsers: readonly string[]): StackCredentials {
  const secrets = { ...read(file) };
  const before = Object.keys(secrets).length;
  const secret = (name: string, bytes = SECRET_BYTES, prefix = "") => (secrets[name] ??= prefix + randomBytes(bytes).toString("hex"));
  const credentials = {
    blobKeyId: secret("blobKeyId", KEY_ID_BYTES, "flyte"),
    blobSecretKey: secret("blobSecretKey"),
    clusterToken: secret("clusterToken"),
    clusterLogToken: secret("clusterLogToken"),
    bus: Object.fromEntries(busUsers.map((user) => [user, secret(`bus.${user}`)])),
  };
  if (Object.keys(secrets).length > before) replaceFile(file, `${JSON.stringify(secrets, null, 2)}\n`);
  return credentials;
}

function read(file: string): Readonly<Record<string, string>> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  try {
    return stored.parse(JSON.parse(text));
  } catch (cause) {
    throw new StackError(`${file} is damaged: remove it; the next start generates new keys and passwords`, { cause });
  }
}
