import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import type { Logger } from "@flyte-ts/telemetry";

/** Files of a server's certificate. */
export interface TlsFiles {
  /** PEM: the certificate and its intermediate certificates. */
  readonly certFile: string;
  /** PEM. */
  readonly keyFile: string;
  /** Interval of the checks for changed files, ms. */
  readonly reloadMs: number;
}

export interface TlsListenerOptions {
  readonly files: TlsFiles;
  readonly logger: Logger;
  readonly onConnection: (socket: Socket) => void;
  /** Timeout of the handshake, ms. */
  readonly handshakeMs: number;
}

/**
 * Accepts TLS connections for HTTP/2 and HTTP/1.1. A renewed certificate applies to new
 * connections; one that is unreadable or does not match its key is ignored, and the previous one
 * stays.
 *
 * @throws Error without a valid certificate at the start.
 */
export async function createTlsListener({ files, logger, onConnection, handshakeMs }: TlsListenerOptions): Promise<Server> {
  let current = await read(files);
  const settings = { ALPNCallback: chooseProtocol, minVersion: "TLSv1.2", handshakeTimeout: handshakeMs } as const;
  const server = createServer({ ...current, ...settings }, onConnection);
  server.on("tlsClientError", (error, socket) => {
    logger.debug({ err: error }, "TLS handshake failed");
    // Node.js leaves the connection open after a handshake timeout.
    socket.destroy();
  });
  const reload = async (): Promise<void> => {
    try {
      const found = await read(files);
      if (found.cert.equals(current.cert) && found.key.equals(current.key)) return;
      server.setSecureContext({ ...found, minVersion: "TLSv1.2" });
      current = found;
      logger.info({ certFile: files.certFile }, "a new certificate is in use");
    } catch (error) {
      logger.error({ err: error, certFile: files.certFile }, "the new certificate cannot be used; the previous one stays in use");
    }
  };
  const timer = setInterval(() => void reload(), files.reloadMs);
  timer.unref();
  server.once("close", () => clearInterval(timer));
  return server;
}

/**
 * HTTP/2 carries only gRPC here, so clients that also speak HTTP/1.1, as browsers do, get that.
 * gRPC clients offer `h2` and not `http/1.1`. Undefined ends the handshake (RFC 7301, 3.2).
 */
function chooseProtocol({ protocols }: { readonly protocols: readonly string[] }): string | undefined {
  return ["http/1.1", "h2"].find((protocol) => protocols.includes(protocol));
}

async function read({ certFile, keyFile }: TlsFiles): Promise<{ readonly cert: Buffer; readonly key: Buffer }> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key };
}
