// This import comes first: its module must be ready when descriptors themselves are described.
import { messagePlaces, onUse, unparsedFiles } from "./lazy-object.js";
import type { DescEnum, DescExtension, DescFile, DescMessage, DescService } from "@bufbuild/protobuf";
import {
  boot as bootFile,
  enumDesc as enumOf,
  extDesc as extensionOf,
  fileDesc as fileOf,
  messageDesc as messageOf,
  serviceDesc as serviceOf,
} from "@bufbuild/protobuf/codegenv2";

// Replaces @bufbuild/protobuf/codegenv2 in bundles. Parsing all files of Flyte takes 14 ms of
// processor time, and the file that describes descriptors 7; a task uses the messages of two files.

/** Describes the file that describes descriptors. */
export function boot(description: Parameters<typeof bootFile>[0]): DescFile {
  return unparsed({}, () => bootFile(description));
}

/** Describes a file of messages. */
export function fileDesc(encoded: string, imports: DescFile[] = []): DescFile {
  return unparsed({ encoded, imports }, () => fileOf(encoded, imports.map(parsed)));
}

function unparsed(source: { readonly encoded?: string; readonly imports?: DescFile[] }, make: () => DescFile): DescFile {
  let file: DescFile | undefined;
  const parse = (): DescFile => (file ??= make());
  const lazy = onUse(parse);
  unparsedFiles.set(lazy, { parse, ...source });
  return lazy;
}

function parsed(file: DescFile): DescFile {
  return (unparsedFiles.get(file)?.parse() as DescFile | undefined) ?? file;
}

/** Describes a message of a file. */
export function messageDesc(file: DescFile, ...path: [number, ...number[]]): DescMessage {
  const lazy = onUse(() => messageOf(parsed(file), ...path));
  messagePlaces.set(lazy, { file, path });
  return lazy;
}

/** Describes an enum of a file. */
export function enumDesc(file: DescFile, path: number, ...paths: number[]): DescEnum {
  return onUse(() => enumOf(parsed(file), path, ...paths));
}

/** Describes a service of a file. */
export function serviceDesc(file: DescFile, path: number, ...paths: number[]): DescService {
  return onUse(() => serviceOf(parsed(file), path, ...paths));
}

/** Describes an extension of a file, at once. */
export function extDesc(file: DescFile, path: number, ...paths: number[]): DescExtension {
  return extensionOf(parsed(file), path, ...paths);
}
