import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Handler } from "./handler.js";

export interface ApiServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts the listener; port 0 takes any free one. */
export async function startServer(handler: Handler, { port, host }: { port: number; host: string }): Promise<ApiServer> {
  const server: Server = createServer(
    {
      keepAliveTimeout: 120_000,
      headersTimeout: 15_000,
      // Timeout of receiving a request; watches respond for any time.
      requestTimeout: 60_000,
      connectionsCheckingInterval: 5_000,
      noDelay: true,
      maxHeaderSize: 64 << 10,
    },
    handler.handle,
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      handler.close();
      server.closeIdleConnections();
      setTimeout(() => server.closeAllConnections(), 500).unref();
      await closed;
    },
  };
}
