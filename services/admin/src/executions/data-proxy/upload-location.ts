import type { CreateUploadLocationRequest } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import type { ExecutionsDeps } from "../deps.js";
import { invalidArgument } from "../../platform/index.js";
import { base32 } from "./base32.js";

export type UploadLocationDeps = Pick<ExecutionsDeps, "config" | "random">;

/** Target of an upload. */
export interface UploadLocation {
  readonly uri: string;
  /** Target of a repeated upload of the same content: the object at `uri` stays unchanged. */
  readonly repeatUri: string;
  /**
   * `named`: the caller chose folder and file. `content`: the caller chose the file in the folder
   * of its content. `random`: the file name is random.
   */
  readonly kind: "named" | "content" | "random";
  /** The folder may belong to other content: the upload must not replace an object there. */
  readonly createOnly: boolean;
}

/** Maximum length of a key in S3, Google Cloud Storage and Azure, bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;
const MD5_BYTES = 16;
/** Folder of repeated uploads; callers cannot name it. */
const REPEATS = ".repeats";
const NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";
/** Base32 of 16 bytes: the folder of content with that MD5. */
const CONTENT_FOLDER = /^[A-Z2-7]{26}(={6})?$/;

/**
 * Returns the URI of an upload, `{container}/{prefix}/[{org}/]{project}/{domain}/{folder}/{file}`.
 * The folder is `filename_root`, or the MD5 of the content.
 *
 * @throws RpcError INVALID_ARGUMENT naming the field and its rule.
 */
export function uploadLocation({ config, random }: UploadLocationDeps, request: CreateUploadLocationRequest): UploadLocation {
  const { project, domain, org, contentMd5, filename, filenameRoot } = request;
  if (project === "" || domain === "") throw invalidArgument("project and domain are required parameters");
  if (filenameRoot === "" && contentMd5.length === 0) throw invalidArgument("content_md5 or filename_root is a required parameter");
  if (contentMd5.length !== 0 && contentMd5.length !== MD5_BYTES) {
    throw invalidArgument(`invalid value for content_md5: it must have ${MD5_BYTES} bytes, not ${contentMd5.length}`);
  }
  for (const [field, value] of Object.entries({ project, domain, filename, filename_root: filenameRoot, org })) checkKeyPart(field, value);
  const createOnly = mayHaveOtherContent(filenameRoot, contentMd5);
  const { defaultFileNameLength, storagePrefix } = config.dataProxy.upload;
  const name = filename || randomName(random, defaultFileNameLength);
  const keyOf = (...more: readonly string[]): string =>
    [storagePrefix, org, project, domain, ...more, name].filter((part) => part !== "").join("/");
  const folder = filenameRoot || base32(contentMd5);
  const [key, repeat] = [keyOf(folder), keyOf(REPEATS, folder)];
  if (Buffer.byteLength(repeat) > MAX_KEY_BYTES) {
    throw invalidArgument(
      `invalid value for filename or filename_root: the address of the upload would be longer than ${MAX_KEY_BYTES} bytes, which exceeds the limit of blob stores`,
    );
  }
  const kind = filename === "" ? "random" : filenameRoot === "" ? "content" : "named";
  const container = config.storage.container.replace(/\/+$/, "");
  return { uri: `${container}/${key}`, repeatUri: `${container}/${repeat}`, kind, createOnly };
}

/**
 * Rejects parts of a key that leave the project's folder, or that a blob store or proxy may
 * interpret differently.
 */
function checkKeyPart(field: string, value: string): void {
  if (value.includes("\0")) throw invalidArgument(`invalid value for ${field}: NUL characters are not allowed`);
  const parts = value.split("/");
  if (parts.some((part) => part === "." || part === "..")) {
    throw invalidArgument(`invalid value for ${field}: it must not contain the path segments . and ..`);
  }
  if (parts.includes(REPEATS)) throw invalidArgument(`invalid value for ${field}: the path segment ${REPEATS} is reserved`);
}

/**
 * True when a chosen folder has the form of a content folder and is not that of the uploaded
 * content. Such folders are allowed, since flytekit names the folder of a directory after the MD5
 * of its files' MD5s (FlyteFS).
 *
 * @throws RpcError INVALID_ARGUMENT without the MD5 of the content.
 */
function mayHaveOtherContent(filenameRoot: string, contentMd5: Uint8Array): boolean {
  const [folder] = filenameRoot.split("/").filter((part) => part !== "");
  if (folder === undefined || !CONTENT_FOLDER.test(folder)) return false;
  if (contentMd5.length === 0) {
    throw invalidArgument(`invalid value for filename_root: [${folder}] may be the folder of other content, so content_md5 is required`);
  }
  const own = base32(contentMd5);
  return folder !== own && folder !== own.replace(/=+$/, "");
}

function randomName(random: () => number, length: number): string {
  return Array.from({ length }, () => NAME_CHARACTERS.charAt(Math.floor(random() * NAME_CHARACTERS.length))).join("");
}
