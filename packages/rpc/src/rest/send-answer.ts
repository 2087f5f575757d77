import type { Message } from "@bufbuild/protobuf";
import type { IncomingMessage, ServerResponse } from "node:http";
import { decodeIfEncoded, type EncodedMessage } from "../encoded-message.js";
import type { ResponseCompression } from "./compression/response-compression.js";
import { addVary } from "./compression/vary.js";
import { formatEntityTag, isNotModified } from "./entity-tag.js";
import type { Codec } from "./json/codec.js";
import type { Route } from "./routing/route-table.js";

export interface AnswerOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly codec: Codec;
  readonly compression: ResponseCompression;
}

/**
 * Sends the answer of a unary call: compressed as the client accepts it, or 304 where the client
 * has it already.
 */
export async function sendAnswer(answer: Message | EncodedMessage, options: AnswerOptions): Promise<void> {
  const { request, response, route, codec, compression } = options;
  const { served, method } = route;
  const message = decodeIfEncoded(answer);
  const tag = route.verb === "GET" ? served.entityTag?.(method, message) : undefined;
  const entityTag = tag === undefined ? undefined : formatEntityTag(tag, codec.form);
  // Browsers keep the answer, but ask each time whether the caller may still read it.
  const validators = entityTag === undefined ? {} : { ETag: entityTag, "Cache-Control": "private, no-cache" };
  if (entityTag !== undefined) {
    addVary(response, "Accept");
    // Answer 304 has the same headers, and the length of its body is not known.
    if (mayCompress(route)) addVary(response, "Accept-Encoding");
  }
  if (entityTag !== undefined && isNotModified(request, entityTag)) {
    response.writeHead(304, validators).end();
    return;
  }
  const written = codec.write(method.output, message);
  const { body, headers } = mayCompress(route) ? await compression.encode(request, response, written) : { body: written, headers: {} };
  response.writeHead(200, {
    ...served.responseHeaders?.(method, message),
    ...validators,
    ...headers,
    "Content-Type": codec.contentType,
  });
  response.end(body);
}

/**
 * False for answers that contain secrets: their compressed length would tell a secret to an
 * attacker who can add text to the answer and see its length (BREACH).
 */
export function mayCompress({ served, method }: Route): boolean {
  return served.secretAnswers?.includes(method.localName) !== true;
}
