import { parseArgs } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { parseGoDuration } from "@flyte-ts/domain";
import { type TypedInterface, TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { IOStrategy_DownloadMode as DownloadMode, IOStrategy_UploadMode as UploadMode } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { InputsFormat } from "./download/inputs.js";

export interface DownloadCommand {
  readonly name: "download";
  /** Undefined: there are no inputs, and it only waits for the uploader. */
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
  readonly iface: TypedInterface;
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

const text = { type: "string" } as const;

/** Parses the arguments that the plugin service writes into the pod. Names of flags are those of flytecopilot. @throws UsageError */
export function parseCommand(words: readonly string[]): Command {
  const [name, ...args] = words;
  switch (name) {
    case "download":
      return download(args);
    case "sidecar":
      return sidecar(args);
    default:
      throw new UsageError(`the command must be download or sidecar, not ${JSON.stringify(name ?? "")}`);
  }
}

function download(args: string[]): DownloadCommand {
  const { values } = parse(args, {
    "from-remote": text,
    "to-output-prefix": text,
    "to-local-dir": text,
    format: { ...text, default: "JSON" },
    "download-mode": { ...text, default: "DOWNLOAD_EAGER" },
    "await-file": text,
    timeout: { ...text, default: "1h" },
  });
  const format = oneOf("format", values.format, ["JSON", "YAML", "PROTO"] as const);
  const mode = oneOf("download-mode", values["download-mode"], modeNames(DownloadMode));
  const from = values["from-remote"];
  return {
    name: "download",
    inputs:
      from === undefined
        ? undefined
        : { from, folder: needed("to-local-dir", values["to-local-dir"]), format, withFiles: mode !== "DO_NOT_DOWNLOAD" },
    outputPrefix: needed("to-output-prefix", values["to-output-prefix"]),
    timeoutMs: milliseconds(values.timeout),
    awaitFile: values["await-file"],
  };
}

function sidecar(args: string[]): SidecarCommand {
  const { values } = parse(args, {
    "to-output-prefix": text,
    "to-raw-output": text,
    "from-local-dir": text,
    interface: text,
    "upload-mode": { ...text, default: "UPLOAD_ON_EXIT" },
    "ready-file": text,
    timeout: { ...text, default: "1h" },
  });
  const mode = oneOf("upload-mode", values["upload-mode"], modeNames(UploadMode));
  return {
    name: "sidecar",
    folder: needed("from-local-dir", values["from-local-dir"]),
    outputPrefix: needed("to-output-prefix", values["to-output-prefix"]),
    rawOutputPrefix: needed("to-raw-output", values["to-raw-output"]),
    iface: interfaceOf(needed("interface", values.interface)),
    withFiles: mode !== "DO_NOT_UPLOAD",
    timeoutMs: milliseconds(values.timeout),
    readyFile: values["ready-file"],
  };
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>["options"]>;

function parse<const T extends Options>(args: string[], options: T) {
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

function needed(flag: string, value: string | undefined): string {
  if (value === undefined || value === "") throw new UsageError(`--${flag}: is required`);
  return value;
}

function milliseconds(value: string): number {
  const nanoseconds = parseGoDuration(value);
  if (nanoseconds === undefined || nanoseconds < 0n)
    throw new UsageError(`--timeout: ${JSON.stringify(value)} is no duration as 1h or 90s`);
  return Number(nanoseconds / 1_000_000n);
}

function interfaceOf(base64: string): TypedInterface {
  try {
    return fromBinary(TypedInterfaceSchema, Buffer.from(base64, "base64"));
  } catch (cause) {
    throw new UsageError("--interface: is no flyteidl.core.TypedInterface in base64", { cause });
  }
}
