import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A proxy in front of a local port that can drop everything, as a network that loses every packet
 * does.
 */
export interface SilentLink {
  readonly port: number;
  /**
   * With `silent`, the link keeps connections open and accepts new ones, but forwards neither bytes
   * nor ends of connections. Afterwards it forwards all of them.
   */
  setSilent(silent: boolean): void;
  stop(): Promise<void>;
}

export async function startSilentLink(target: number): Promise<SilentLink> {
  const sockets = new Set<Socket>();
  let silent = false;
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true });
    join(client, server);
    join(server, client);
  });
  const join = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on("data", (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on("drain", () => silent || from.resume());
    from.on("end", () => to.end());
    from.on("error", () => undefined);
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    if (silent) from.pause();
  };
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (listener.address() as AddressInfo).port,
    setSilent: (wanted) => {
      silent = wanted;
      for (const socket of sockets) {
        if (silent) socket.pause();
        else socket.resume();
      }
    },
    stop: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
