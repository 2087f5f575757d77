import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testWatchdog } from "@flyte-ts/testing";
import { stringify } from "yaml";
import type { RunningStack } from "../../stack/stack-fixture.js";
import { type Settings, waitForResponse } from "./reconfigure.js";

export interface GoProgram {
  readonly name: string;
  /** The program file. */
  readonly file: string;
  readonly settings: Settings;
  /** Commands that run to completion before it serves. */
  readonly before?: readonly (readonly string[])[];
  /** Command that serves. */
  readonly serve: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Port of its profiler, which answers /healthcheck. */
  readonly profilerPort: number;
}

/** A program that runs. */
export interface RunningProgram {
  readonly logFile: string;
  stop(): Promise<void>;
}

const LOG_TAIL = 4_000;

/**
 * Starts a program of Go Flyte with settings in the folder of a stack. Resolves when it is healthy.
 */
export async function startGoProgram({ folder }: RunningStack, program: GoProgram): Promise<RunningProgram> {
  const place = join(folder, "go");
  mkdirSync(place, { recursive: true });
  const [config, logFile] = [join(place, `${program.name}.yaml`), join(place, `${program.name}.log`)];
  writeFileSync(config, stringify(program.settings), { mode: 0o600 });
  const options = { cwd: place, env: { ...process.env, ...program.env } };
  const log = openSync(logFile, "a");
  for (const command of program.before ?? [])
    execFileSync(program.file, ["--config", config, ...command], { ...options, stdio: ["ignore", log, log] });
  const child = spawn(program.file, ["--config", config, ...program.serve], { ...options, stdio: ["ignore", log, log] });
  closeSync(log);
  testWatchdog().watch(child, "SIGTERM");
  const ended = new Promise<void>((done) => {
    child.once("exit", () => done());
    child.once("error", () => done());
  });
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    if (hasEnded()) return;
    child.kill("SIGTERM");
    const deadline = setTimeout(() => child.kill("SIGKILL"), 15_000);
    await ended;
    clearTimeout(deadline);
  };
  const exitedEarly = ended.then(() => {
    throw new Error(`${program.name} ended:\n${readFileSync(logFile, "utf8").slice(-LOG_TAIL)}`);
  });
  exitedEarly.catch(() => undefined);
  try {
    await Promise.race([waitForResponse(program.name, `http://127.0.0.1:${program.profilerPort}/healthcheck`), exitedEarly]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { logFile, stop };
}

/** Settings of Go Flyte's blob store client for the stack. */
export function goStorage({ blobs }: RunningStack, key: { readonly accessKeyId: string; readonly secretAccessKey: string }): Settings {
  const endpoint = `http://localhost:${blobs}`;
  const config = {
    auth_type: "accesskey",
    access_key_id: key.accessKeyId,
    secret_key: key.secretAccessKey,
    disable_ssl: "true",
    endpoint,
    region: "us-east-1",
    v2_signing: "false",
  };
  return {
    type: "stow",
    container: "my-s3-bucket",
    "enable-multicontainer": true,
    stow: { kind: "s3", config },
    signedUrl: { stowConfigOverride: { endpoint } },
  };
}
