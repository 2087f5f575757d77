import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedPost {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answer to a post. `hang`: none. */
export type WebhookResponse =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | "hang";

export interface WebhookReceiver {
  /** Without a path. */
  readonly url: string;
  readonly posts: readonly ReceivedPost[];
  stop(): Promise<void>;
}

/** A local HTTP server that records posts. */
export async function webhookReceiver(
  answer: (post: ReceivedPost, count: number) => WebhookResponse = () => ({ status: 204 }),
): Promise<WebhookReceiver> {
  const posts: ReceivedPost[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const post = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString("utf8") };
      posts.push(post);
      const answered = answer(post, posts.length);
      if (answered !== "hang") response.writeHead(answered.status, answered.headers).end(answered.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
