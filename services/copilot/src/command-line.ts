import { parseArgs } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { parseGoDuration } from "@flyte-ts/domain/duration";
import { type TypedInterface, TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { IOStrategy_DownloadMode as DownloadMode, IOStrategy_UploadMode as UploadMode } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { InputsFormat } from "./download/download-inputs.js";

export interface DownloadCommand {
  readonly name: "download";
  /** Undefined: the task has no inputs, and the command only waits for the uploader. */
  readonly inputs:
    | { readonly from: string; readonly folder: string; readonly format: InputsFormat; readonly withFiles: boolean }
    | undefined;
  readonly outputPrefix: string;
  readonly timeoutMs: number;
  /** File that the uploader creates once it listens. */
  readonly awaitFile: string | undefined;
}

export interface SidecarCommand {
  readonly name: "sidecar";
  readonly folder: string;
  readonly outputPrefix: string;
  readonly rawOutputPrefix: string;
  readonly taskInterface: TypedInterface;
  readonly withFiles: boolean;
  readonly timeoutMs: number;
  /** File to create once signals are handled. */
  readonly readyFile: string | undefined;
}

export type Command = DownloadCommand | SidecarCommand;

/** The command line does not come from the plugin service. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const stringFlag = { type: "string" } as const;

/**
 * Parses the arguments that the plugin service writes into the pod. Names of flags are those of
 * flytecopilot. @throws UsageError
 */
export function parseCommand(argv: readonly string[]): Command {
  const [name, ...args] = argv;
  switch (name) {
    case "download":
      return parseDownload(args);
    case "sidecar":
      return parseSidecar(args);
    default:
      throw new UsageError(`the command must be download or sidecar, not ${JSON.stringify(name ?? "")}`);
  }
}

function parseDownload(args: string[]): DownloadCommand {
  const { values } = parseFlags(args, {
    "from-remote": stringFlag,
    "to-output-prefix": stringFlag,
    "to-local-dir": stringFlag,
    format: { ...stringFlag, default: "JSON" },
    "download-mode": { ...stringFlag, default: "DOWNLOAD_EAGER" },
    "await-file": stringFlag,
    timeout: { ...stringFlag, default: "1h" },
  });
  const format = oneOf("format", values.format, ["JSON", "YAML", "PROTO"] as const);
  const mode = oneOf("download-mode", values["download-mode"], modeNames(DownloadMode));
  const from = values["from-remote"];
  return {
    name: "download",
    inputs:
      from === undefined
        ? undefined
        : { from, folder: required("to-local-dir", values["to-local-dir"]), format, withFiles: mode !== "DO_NOT_DOWNLOAD" },
    outputPrefix: required("to-output-prefix", values["to-output-prefix"]),
    timeoutMs: parseTimeoutMs(values.timeout),
    awaitFile: values["await-file"],
  };
}

function parseSidecar(args: string[]): SidecarCommand {
  const { values } = parseFlags(args, {
    "to-output-prefix": stringFlag,
    "to-raw-output": stringFlag,
    "from-local-dir": stringFlag,
    interface: stringFlag,
    "upload-mode": { ...stringFlag, default: "UPLOAD_ON_EXIT" },
    "ready-file": stringFlag,
    timeout: { ...stringFlag, default: "1h" },
  });
  const mode = oneOf("upload-mode", values["upload-mode"], modeNames(UploadMode));
  return {
    name: "sidecar",
    folder: required("from-local-dir", values["from-local-dir"]),
    outputPrefix: required("to-output-prefix", values["to-output-prefix"]),
    rawOutputPrefix: required("to-raw-output", values["to-raw-output"]),
    taskInterface: parseInterface(required("interface", values.interface)),
    withFiles: mode !== "DO_NOT_UPLOAD",
    timeoutMs: parseTimeoutMs(values.timeout),
    readyFile: values["ready-file"],
  };
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>["options"]>;

function parseFlags<const T extends Options>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function modeNames(modes: Readonly<Record<string, string | number>>): readonly string[] {
  return Object.values(modes).filter((name) => typeof name === "string");
}

function oneOf<T extends string>(flag: string, value: string, known: readonly T[]): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw new UsageError(`--${flag}: must be one of ${known.join(", ")}, not ${JSON.stringify(value)}`);
  return found;
}

function required(flag: string, value: string | undefined): string {
  if (value === undefined || value === "") throw new UsageError(`--${flag}: is required`);
  return value;
}

function parseTimeoutMs(value: string): number {
  const nanoseconds = parseGoDuration(value);
  if (nanoseconds === undefined || nanoseconds < 0n)
    throw new UsageError(`--timeout: ${JSON.stringify(value)} is not a duration such as 1h or 90s`);
  return Number(nanoseconds / 1_000_000n);
}

function parseInterface(base64: string): TypedInterface {
  try {
    return fromBinary(TypedInterfaceSchema, Buffer.from(base64, "base64"));
  } catch (cause) {
    throw new UsageError("--interface: must be a base64-encoded flyteidl.core.TypedInterface", { cause });
  }
}
