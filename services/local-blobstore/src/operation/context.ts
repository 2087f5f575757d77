import type { ServerResponse } from "node:http";
import type { Authenticated } from "../auth/authenticate.js";
import type { S3Request } from "../http/request.js";
import { xmlDocument, type XmlElement } from "../http/xml.js";
import type { Store } from "../store/store.js";
import type { Uploads } from "../store/uploads.js";

/** Dependencies and data of an operation. */
export interface OperationContext {
  readonly request: S3Request;
  readonly auth: Authenticated;
  readonly response: ServerResponse;
  readonly store: Store;
  readonly uploads: Uploads;
}

export function sendXml({ response }: OperationContext, document: XmlElement, headers: Readonly<Record<string, string>> = {}): void {
  const body = xmlDocument(document);
  response.writeHead(200, { ...headers, "content-type": "application/xml", "content-length": Buffer.byteLength(body) }).end(body);
}

export function sendEmpty({ response }: OperationContext, status: 200 | 204, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, status === 200 ? { ...headers, "content-length": 0 } : headers).end();
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}
