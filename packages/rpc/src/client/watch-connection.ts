import { type Client, connectivityState } from "@grpc/grpc-js";

/**
 * Keeps the client connected, and calls the listener each time that it becomes so.
 *
 * @returns a function that ends it
 */
export function watchConnection(client: Client, listener: () => void): () => void {
  const channel = client.getChannel();
  let stopped = false;
  let wasReady = false;
  const watch = (): void => {
    if (stopped) return;
    // Leaves the idle state, to which a lost connection returns.
    const state = channel.getConnectivityState(true);
    // A closed channel cannot be watched.
    if (state === connectivityState.SHUTDOWN) return;
    const isReady = state === connectivityState.READY;
    const hasConnected = isReady && !wasReady;
    wasReady = isReady;
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, watch);
    if (hasConnected) listener();
  };
  watch();
  return () => {
    stopped = true;
  };
}
