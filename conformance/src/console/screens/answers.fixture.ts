import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { root } from "../../repository.js";

/** An answer of the API, as it was recorded. */
interface Answer {
  readonly status: number;
  readonly type: string;
  /** Content of a JSON answer. */
  readonly json?: unknown;
  /** Content of any other answer, base64. */
  readonly bytes?: string;
}

/** Answers by method, path, query and body of their request. */
interface Recording {
  /** Time of the server and of the browser, ms since the epoch. */
  readonly atMs: number;
  readonly answers: Readonly<Record<string, Answer>>;
}

const FILE = join(import.meta.dirname, "answers.json");
const BUNDLE = join(root, "services/console/bundle");
const TYPES: Readonly<Record<string, string>> = { css: "text/css", js: "text/javascript", svg: "image/svg+xml", woff2: "font/woff2" };
/** Secret in the addresses of a local stack's logs. */
const LOG_SECRET = /(?<=\/)[0-9a-f]{48}(?=\/api\/)/g;
const JSON_TYPE = /^application\/(.*\+)?json\b/;

/** A server of the console that answers its calls from a recording. */
export interface RecordedConsole {
  readonly origin: string;
  readonly atMs: number;
  /** Calls without a recorded answer. */
  readonly unknown: readonly string[];
  close(): Promise<void>;
}

/** A server of the console that records the answers of a stack. */
export interface ConsoleRecorder extends RecordedConsole {
  /** Writes the recording, in the order of its requests' names. */
  write(): void;
}

/** Serves the console with the recorded answers, each with the time of the recording. */
export async function serveRecording(): Promise<RecordedConsole> {
  const { atMs, answers } = JSON.parse(readFileSync(FILE, "utf8")) as Recording;
  const unknown: string[] = [];
  const served = await serveConsole(atMs, (request, _, key) => {
    const answer = answers[key];
    if (answer === undefined) unknown.push(key);
    return Promise.resolve(
      answer ?? { status: 501, type: "text/plain", bytes: Buffer.from(`no answer for ${request.url}`).toString("base64") },
    );
  });
  return { ...served, atMs, unknown };
}

export interface RecordOptions {
  /** Origin of the stack. */
  readonly upstream: string;
  /** Credentials of a call. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly atMs: number;
}

/** Serves the console with the answers of a stack, and records them. */
export async function recordConsole({ upstream, headers: credentials, atMs }: RecordOptions): Promise<ConsoleRecorder> {
  const answers = new Map<string, Answer>();
  const served = await serveConsole(atMs, async ({ url = "", method = "GET", headers }, body, key) => {
    const { accept = "*/*", "content-type": type } = headers;
    const sent = {
      ...(await credentials()),
      accept,
      "accept-encoding": "identity",
      ...(type !== undefined && { "content-type": type, origin: upstream }),
    };
    const response = await fetch(`${upstream}${url}`, { method, headers: sent, ...(body !== "" && { body }) });
    const bytes = Buffer.from(await response.arrayBuffer());
    const answerType = response.headers.get("content-type") ?? "";
    const content = JSON_TYPE.test(answerType) ? { json: JSON.parse(bytes.toString()) as unknown } : { bytes: bytes.toString("base64") };
    const answer = { status: response.status, type: answerType, ...content };
    answers.set(key, answer);
    return answer;
  });
  const write = (): void => {
    const sorted = [...answers].sort(([a], [b]) => (a < b ? -1 : 1));
    const recording = JSON.stringify({ atMs, answers: Object.fromEntries(sorted) } satisfies Recording, undefined, 1);
    writeFileSync(FILE, `${recording.replaceAll(LOG_SECRET, "secret")}\n`);
  };
  return { ...served, atMs, unknown: [], write };
}

type AnswerCall = (request: IncomingMessage, body: string, key: string) => Promise<Answer>;

async function serveConsole(atMs: number, answerCall: AnswerCall): Promise<Pick<RecordedConsole, "origin" | "close">> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, search } = new URL(request.url ?? "", "http://console");
    response.setHeader("Date", new Date(atMs).toUTCString());
    if (!pathname.startsWith("/api/")) return sendFile(response, pathname);
    const body = await text(request);
    const {
      status,
      type,
      json,
      bytes = "",
    } = await answerCall(request, body, `${request.method} ${pathname}${search}${body && ` ${body}`}`);
    const content = json === undefined ? Buffer.from(bytes, "base64") : JSON.stringify(json);
    response.writeHead(status, { "Content-Type": type }).end(content);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://localhost:${portOf(server)}`, close: () => close(server) };
}

/** Sends a file of the console; any other address is a page of it. */
function sendFile(response: ServerResponse, pathname: string): void {
  const asset = /^\/console\/(assets\/[\w.-]+\.(\w+))$/.exec(pathname);
  const [, name = "index.html", ending = ""] = asset ?? [];
  response.writeHead(200, { "Content-Type": TYPES[ending] ?? "text/html" }).end(readFileSync(join(BUNDLE, name)));
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
